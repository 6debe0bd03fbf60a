package dev.warmpath.simulator.study;

import dev.warmpath.simulator.engine.CostModel;
import dev.warmpath.simulator.engine.PolynomialCost;
import dev.warmpath.simulator.engine.StepCost;
import java.math.BigDecimal;

/** The engine cost models by name. Thread-safe. */
public final class CostModels {

  private CostModels() {}

  /** A model in words. */
  public static String text(CostModel model) {
    return model instanceof StepCost step
        ? "a step takes %s ms, %s ms for each prompt token that it computes, %s ms for each of these and each token before it, %s ms for each token before one that it decodes"
            .formatted(
                number(step.baseMillis()),
                number(step.prefillTokenMillis()),
                number(step.attentionMillis()),
                number(step.decodeContextMillis()))
        : model.toString();
  }

  private static String number(double value) {
    return new BigDecimal(Double.toString(value)).stripTrailingZeros().toPlainString();
  }

  /**
   * The model called {@code name}.
   *
   * @throws IllegalArgumentException if there is none such, saying which there are
   */
  public static CostModel named(String name) {
    return switch (name) {
      case "h100x4" -> StepCost.H100X4;
      case "dynamo" -> PolynomialCost.DYNAMO;
      default ->
          throw new IllegalArgumentException(
              "unknown cost model '" + name + "', must be one of dynamo, h100x4");
    };
  }
}
