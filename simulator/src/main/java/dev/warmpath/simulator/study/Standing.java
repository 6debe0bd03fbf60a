package dev.warmpath.simulator.study;

import dev.warmpath.simulator.study.Figure.Better;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** How a cell stands among those of its setting, in one figure. */
enum Standing {
  /** No other is better. */
  BEST,
  /** Its confidence interval and that of the best overlap. */
  NEAR,
  /** All others, and all if no value is better than another. */
  OTHER;

  static Standing of(ReportCell cell, List<ReportCell> all, Figure figure) {
    Optional<Estimate> best = best(all, figure);
    if (best.isEmpty()) {
      return OTHER;
    }
    Estimate own = cell.estimate(figure);
    if (own.mean() == best.get().mean()) {
      return BEST;
    }
    return own.overlaps(best.get()) ? NEAR : OTHER;
  }

  private static Optional<Estimate> best(List<ReportCell> all, Figure figure) {
    boolean differ = all.stream().mapToDouble(cell -> cell.mean(figure)).distinct().count() > 1;
    if (figure.better() == Better.NEITHER || !differ) {
      return Optional.empty();
    }
    Comparator<Estimate> lowest = Comparator.comparingDouble(Estimate::mean);
    return all.stream()
        .map(cell -> cell.estimate(figure))
        .filter(estimate -> !Double.isNaN(estimate.mean()))
        .min(figure.better() == Better.LOWER ? lowest : lowest.reversed());
  }
}
