package dev.warmpath.simulator.study;

import dev.warmpath.simulator.study.Study.CellFigures;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A cell as it is reported.
 *
 * @param requests that were counted, on the average of the seeds
 * @param minutes around the fleet's change; empty without one, or read from a file
 * @param ttftBySeed the mean time to first token of each seed, in ms; empty if read from a file
 */
public record ReportCell(
    Cell cell,
    int seeds,
    double requests,
    Map<Figure, Estimate> figures,
    Oracle oracle,
    List<ReportMinute> minutes,
    List<Double> ttftBySeed) {

  /** A {@link RunFigures.Minute} over all seeds. */
  public record ReportMinute(
      int minute, Estimate requests, Estimate mean, Estimate p90, Estimate p99, Estimate hitRate) {

    static ReportMinute of(List<RunFigures.Minute> seeds) {
      return new ReportMinute(
          seeds.get(0).minute(),
          of(seeds, RunFigures.Minute::requests),
          of(seeds, minute -> minute.ttftMillis().mean()),
          of(seeds, minute -> minute.ttftMillis().p90()),
          of(seeds, minute -> minute.ttftMillis().p99()),
          of(seeds, RunFigures.Minute::hitRate));
    }

    private static Estimate of(
        List<RunFigures.Minute> seeds, ToDoubleFunction<RunFigures.Minute> figure) {
      return Estimate.of(seeds.stream().mapToDouble(figure).toArray());
    }
  }

  private static final Set<Figure> OF_HOSTS = EnumSet.of(Figure.HOST_HIT_RATE, Figure.LOAD_MEAN);
  private static final Set<Figure> OF_PAIRS =
      EnumSet.of(Figure.ANSWER_MEAN, Figure.ANSWER_P99, Figure.SPLIT);

  private static final Set<Figure> OF_CAUSES =
      EnumSet.range(Figure.UNCACHED_NEW, Figure.UNCACHED_MISPREDICTED);

  /** A smaller share is shown as none. */
  private static final double LEAST_SHARE = 0.0005;

  public ReportCell {
    figures = Map.copyOf(figures);
    minutes = List.copyOf(minutes);
    ttftBySeed = List.copyOf(ttftBySeed);
  }

  public static ReportCell of(CellFigures cell) {
    Map<Figure, Estimate> figures = new EnumMap<>(Figure.class);
    for (Figure figure : Figure.values()) {
      figures.put(figure, cell.estimate(figure));
    }
    return new ReportCell(
        cell.cell(),
        cell.runs().size(),
        cell.mean(run -> run.requests()),
        figures,
        new Oracle(cell.oracle(Oracle::infiniteHitRate), cell.oracle(Oracle::poolHitRate)),
        minutes(cell.runs()),
        cell.runs().stream().map(run -> run.ttftMillis().mean()).toList());
  }

  private static List<ReportMinute> minutes(List<RunFigures> runs) {
    return IntStream.range(0, runs.get(0).minutes().size())
        .mapToObj(i -> ReportMinute.of(runs.stream().map(run -> run.minutes().get(i)).toList()))
        .toList();
  }

  /** How much longer its mean time to first token is than another's, seed by seed. */
  Estimate ttftOver(ReportCell other) {
    return Estimate.of(
        IntStream.range(0, Math.min(ttftBySeed.size(), other.ttftBySeed.size()))
            .mapToDouble(seed -> ttftBySeed.get(seed) - other.ttftBySeed.get(seed))
            .toArray());
  }

  public Estimate estimate(Figure figure) {
    return Objects.requireNonNull(figures.get(figure));
  }

  public double mean(Figure figure) {
    return estimate(figure).mean();
  }

  /** The cells by settings, in their order. */
  static Map<String, List<ReportCell>> bySetting(List<ReportCell> cells) {
    Map<String, List<ReportCell>> settings = new LinkedHashMap<>();
    for (ReportCell cell : cells) {
      settings
          .computeIfAbsent(cell.cell().setting(), setting -> new java.util.ArrayList<>())
          .add(cell);
    }
    return settings;
  }

  /**
   * The figures that tell cells apart: those of host tiers, of pairs and of causes only where there
   * are.
   */
  static List<Figure> figures(List<ReportCell> cells) {
    boolean hosted = cells.stream().anyMatch(cell -> cell.cell().hostKvTokens() > 0);
    boolean paired = cells.stream().anyMatch(cell -> cell.cell().pairs().isOn());
    return Stream.of(Figure.values())
        .filter(figure -> hosted || !OF_HOSTS.contains(figure))
        .filter(figure -> paired || !OF_PAIRS.contains(figure))
        .filter(figure ->
            !OF_CAUSES.contains(figure)
                || cells.stream().anyMatch(cell -> cell.mean(figure) >= LEAST_SHARE))
        .toList();
  }

  /** A figure as text, with its unit's usual number of decimals. */
  static String text(Figure figure, double value) {
    return Double.isNaN(value)
        ? "–"
        : String.format(Locale.ROOT, "%,." + figure.decimals() + "f", value);
  }
}
