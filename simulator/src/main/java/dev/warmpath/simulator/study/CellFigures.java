package dev.warmpath.simulator.study;

import dev.warmpath.simulator.statistics.Estimate;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * A cell over all its seeds.
 *
 * <p>Immutable.
 *
 * @param runs one for each seed
 */
public record CellFigures(Cell cell, List<RunFigures> runs) {

  public CellFigures {
    runs = List.copyOf(runs);
  }

  /** The mean over the seeds. */
  public double mean(ToDoubleFunction<RunFigures> figure) {
    return estimate(figure).mean();
  }

  /** Half the width of the mean's 95 % confidence interval; NaN for one seed. */
  public double confidence(ToDoubleFunction<RunFigures> figure) {
    return estimate(figure).halfWidth();
  }

  private Estimate estimate(ToDoubleFunction<RunFigures> figure) {
    return Estimate.of(runs.stream().mapToDouble(figure).toArray());
  }

  public double ttftMean() {
    return mean(run -> run.ttftMillis().mean());
  }
}
