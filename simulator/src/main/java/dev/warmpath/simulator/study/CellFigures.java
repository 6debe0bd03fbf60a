package dev.warmpath.simulator.study;

import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * A cell over all its seeds.
 *
 * @param runs one for each seed
 * @param oracles one for each seed, the same for all policies of a setting
 */
public record CellFigures(Cell cell, List<RunFigures> runs, List<Oracle> oracles) {

  public CellFigures {
    runs = List.copyOf(runs);
    oracles = List.copyOf(oracles);
  }

  /** A figure's mean over the seeds. */
  public Estimate estimate(Figure figure) {
    return Estimate.of(runs.stream().mapToDouble(figure::of).toArray());
  }

  /** The mean over the seeds. */
  public double mean(ToDoubleFunction<RunFigures> figure) {
    return runs.stream().mapToDouble(figure).average().orElse(Double.NaN);
  }

  /** The mean of an oracle's figure over the seeds. */
  public double oracle(ToDoubleFunction<Oracle> figure) {
    return oracles.stream().mapToDouble(figure).average().orElse(Double.NaN);
  }
}
