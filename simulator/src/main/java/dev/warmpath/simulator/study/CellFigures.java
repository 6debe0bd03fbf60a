package dev.warmpath.simulator.study;

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

  /* Student's t at 97.5 %, by degrees of freedom. */
  private static final double[] T = {
    Double.NaN, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228
  };

  public CellFigures {
    runs = List.copyOf(runs);
  }

  /** The mean over the seeds. */
  public double mean(ToDoubleFunction<RunFigures> figure) {
    return runs.stream().mapToDouble(figure).average().orElse(Double.NaN);
  }

  /** Half the width of the mean's 95 % confidence interval; NaN for one seed. */
  public double confidence(ToDoubleFunction<RunFigures> figure) {
    int n = runs.size();
    double mean = mean(figure);
    double squares =
        runs.stream().mapToDouble(figure).map(value -> (value - mean) * (value - mean)).sum();
    double t = n - 1 < T.length ? T[n - 1] : 1.96;
    return t * Math.sqrt(squares / (n - 1) / n);
  }

  public double ttftMean() {
    return mean(run -> run.ttftMillis().mean());
  }
}
