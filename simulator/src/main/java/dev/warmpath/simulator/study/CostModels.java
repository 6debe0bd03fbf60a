package dev.warmpath.simulator.study;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.simulator.engine.CostModel;
import dev.warmpath.simulator.engine.StepCost;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/**
 * Engine speeds by name, or of a file: a JSON object with {@code base_ms}, {@code
 * prefill_token_ms}, {@code attention_pair_ms} and {@code decode_context_token_ms}; other fields do
 * not count.
 */
public final class CostModels {

  /** The name of {@link StepCost#H100X4}. */
  public static final String H100X4 = "h100x4";

  /** The name of {@link CostModel.PolynomialCost#DYNAMO}. */
  public static final String DYNAMO = "dynamo";

  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final String BASE = "base_ms";
  private static final String TOKEN = "prefill_token_ms";
  private static final String PAIR = "attention_pair_ms";
  private static final String CONTEXT = "decode_context_token_ms";

  private CostModels() {}

  /**
   * The cost with a name, or in a file.
   *
   * @throws IllegalArgumentException if there is none such, or the file is not one, saying why
   */
  public static CostModel named(String nameOrFile) {
    return switch (nameOrFile) {
      case H100X4 -> StepCost.H100X4;
      case DYNAMO -> CostModel.PolynomialCost.DYNAMO;
      default -> read(nameOrFile);
    };
  }

  /** A model in words. */
  public static String text(CostModel model) {
    return model instanceof StepCost step
        ? "a step takes %s ms, %s ms for each prompt token that it computes, %s ms for each of these and each token before it, %s ms for each token before one that it decodes"
            .formatted(
                plain(step.baseMillis()),
                plain(step.prefillTokenMillis()),
                plain(step.attentionMillis()),
                plain(step.decodeContextMillis()))
        : model.toString();
  }

  private static String plain(double value) {
    return new BigDecimal(Double.toString(value)).stripTrailingZeros().toPlainString();
  }

  private static StepCost read(String file) {
    try {
      JsonNode json = MAPPER.readTree(Files.readAllBytes(Path.of(file)));
      return new StepCost(
          number(json, BASE), number(json, TOKEN), number(json, PAIR), number(json, CONTEXT));
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(file + ": no JSON", e);
    } catch (IOException | InvalidPathException e) {
      throw new IllegalArgumentException(
          "'%s' is no engine cost, must be %s, %s or a readable file"
              .formatted(file, H100X4, DYNAMO),
          e);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(file + ": " + e.getMessage(), e);
    }
  }

  private static double number(JsonNode json, String field) {
    JsonNode value = json.path(field);
    if (!value.isNumber()) {
      throw new IllegalArgumentException("no number '" + field + "'");
    }
    return value.doubleValue();
  }

  /** Adds a cost to a JSON object, such that a file with it can be named. */
  public static void addTo(ObjectNode json, StepCost cost) {
    json.put(BASE, cost.baseMillis())
        .put(TOKEN, cost.prefillTokenMillis())
        .put(PAIR, cost.attentionMillis())
        .put(CONTEXT, cost.decodeContextMillis());
  }
}
