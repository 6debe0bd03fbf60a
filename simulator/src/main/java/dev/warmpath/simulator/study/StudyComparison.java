package dev.warmpath.simulator.study;

import dev.warmpath.simulator.study.Figure.Better;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Two studies side by side: what the second one has of each figure for one of the first.
 *
 * @param pairs cells that both have, in the first one's order
 * @param onlyInOne cells that the other study does not have
 */
public record StudyComparison(List<Pair> pairs, int onlyInOne) {

  private static final List<Figure> COLUMNS =
      List.of(Figure.TTFT_MEAN, Figure.TTFT_P90, Figure.TTFT_P99, Figure.TPOT, Figure.HIT_RATE);

  /** A cell of both. */
  public record Pair(ReportCell before, ReportCell after) {

    /** The second study's figure divided by the first one's. */
    public double ratio(Figure figure) {
      double first = before.mean(figure);
      double second = after.mean(figure);
      return first == second ? 1 : second / first;
    }

    /** Whether the confidence intervals do not overlap. */
    public boolean differs(Figure figure) {
      return !before.estimate(figure).overlaps(after.estimate(figure));
    }

    /** Whether a mean got worse by more than {@code share}, and the intervals do not overlap. */
    public boolean isWorse(Figure figure, double share) {
      Estimate first = before.estimate(figure);
      Estimate second = after.estimate(figure);
      boolean beyond =
          figure.better() == Better.LOWER
              ? second.mean() > first.mean() * (1 + share)
              : second.mean() < first.mean() / (1 + share);
      return beyond && differs(figure);
    }
  }

  public StudyComparison {
    pairs = List.copyOf(pairs);
  }

  /** Cells are the same if trace, fleet, load (or rate), index, policy and routers are. */
  public static StudyComparison of(List<ReportCell> before, List<ReportCell> after) {
    Map<String, ReportCell> others = new HashMap<>();
    after.forEach(cell -> others.put(key(cell.cell()), cell));
    List<Pair> pairs = new ArrayList<>();
    for (ReportCell cell : before) {
      ReportCell other = others.get(key(cell.cell()));
      if (other != null) {
        pairs.add(new Pair(cell, other));
      }
    }
    return new StudyComparison(pairs, before.size() + after.size() - 2 * pairs.size());
  }

  /** A knee may have moved: the rate counts only where no load is given. */
  private static String key(Cell cell) {
    Object load = Double.isNaN(cell.load()) ? "rate " + cell.rate() : cell.load();
    return String.join(
        "\n",
        List.of(
            cell.trace(),
            cell.replicas() + "×" + cell.kvTokens() + "+" + cell.hostKvTokens(),
            load.toString(),
            cell.index().toString(),
            cell.contender()));
  }

  /** Pairs of which the mean time to first token got worse by more than {@code share}. */
  public List<Pair> worse(double share) {
    return pairs.stream().filter(pair -> pair.isWorse(Figure.TTFT_MEAN, share)).toList();
  }

  /** Ratios by setting; those whose confidence intervals do not overlap have a star. */
  public String table() {
    StringBuilder text = new StringBuilder();
    String setting = "";
    for (Pair pair : pairs) {
      if (!pair.before.cell().setting().equals(setting)) {
        setting = pair.before.cell().setting();
        text.append(setting).append('\n').append(String.format("  %-44s", "policy"));
        COLUMNS.forEach(figure -> text.append(String.format(" %11s", figure.title())));
        text.append('\n');
      }
      text.append(String.format("  %-44s", pair.before.cell().contender()));
      for (Figure figure : COLUMNS) {
        String star = pair.differs(figure) ? "*" : " ";
        text.append(String.format(Locale.ROOT, " %10.3f%s", pair.ratio(figure), star));
      }
      text.append('\n');
    }
    return text.toString();
  }
}
