package dev.warmpath.simulator.study;

import dev.warmpath.simulator.engine.StepCost;
import dev.warmpath.simulator.trace.LoggedRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * An engine's speed, as a decision log shows it.
 *
 * @param engines whose requests were used
 * @param fitted requests that the cost was fitted to
 * @param heldOut others, on which the errors were measured
 * @param ttftError median relative error, without its sign, of the time from dispatch to first
 *     token
 * @param decodeError the same of the time from there to the end
 */
public record CostFit(
    StepCost cost, int engines, int fitted, int heldOut, double ttftError, double decodeError) {

  /** Streamed answers without which nothing is fitted. */
  public static final int LEAST_REQUESTS = 50;

  private static final int HELD_OUT = 5;

  /**
   * Fits the cost of engines that are alike.
   *
   * @param stepTokens prompt tokens that a step computes at most
   * @throws IllegalArgumentException if the log has too few streamed answers, saying how many
   */
  public static CostFit of(List<LoggedRequest> log, int stepTokens) {
    Map<String, List<LoggedRequest>> byEngine =
        log.stream()
            .filter(request -> request.engine() != null)
            .collect(
                Collectors.groupingBy(
                    request -> Objects.requireNonNull(request.engine()),
                    TreeMap::new,
                    Collectors.toList()));
    List<EngineEquations.Pair> pairs = new ArrayList<>();
    for (List<LoggedRequest> requests : byEngine.values()) {
      for (EngineEquations.Pair pair : new EngineEquations(Served.of(requests), stepTokens).all()) {
        if (pair.prefill().isSound()) {
          pairs.add(pair);
        }
      }
    }
    if (pairs.size() < LEAST_REQUESTS) {
      throw new IllegalArgumentException(
          "%d streamed answers with known lengths, at least %d are needed"
              .formatted(pairs.size(), LEAST_REQUESTS));
    }
    return fitted(pairs, byEngine.size());
  }

  private static CostFit fitted(List<EngineEquations.Pair> pairs, int engines) {
    List<Equation> equations = new ArrayList<>();
    List<EngineEquations.Pair> others = new ArrayList<>();
    for (int i = 0; i < pairs.size(); i++) {
      EngineEquations.Pair pair = pairs.get(i);
      if (i % HELD_OUT == 0) {
        others.add(pair);
        continue;
      }
      equations.add(pair.prefill());
      if (pair.decode().isSound()) {
        equations.add(pair.decode());
      }
    }
    StepCost cost = LeastErrors.of(equations);
    List<Equation> decodes =
        others.stream().map(EngineEquations.Pair::decode).filter(Equation::isSound).toList();
    return new CostFit(
        cost,
        engines,
        pairs.size() - others.size(),
        others.size(),
        medianError(cost, others.stream().map(EngineEquations.Pair::prefill).toList()),
        medianError(cost, decodes));
  }

  private static double medianError(StepCost cost, List<Equation> equations) {
    return Spread.of(
            equations.stream()
                .mapToDouble(row -> Math.abs(row.millis(cost) / row.millis() - 1))
                .toArray())
        .median();
  }
}
