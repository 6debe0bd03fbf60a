package dev.warmpath.simulator.study;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.routing.Policies;
import dev.warmpath.simulator.engine.StepCost;
import dev.warmpath.simulator.fleet.IndexMode;
import dev.warmpath.simulator.study.Study.CellFigures;
import dev.warmpath.simulator.trace.Trace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/**
 * Every policy on two fleets, beside the figures that are checked in: a change of behaviour is a
 * change of that file. With {@code -Dwarmpath.golden=write} the test writes it.
 */
final class GoldenStudyTest {

  private static final Path FILE = Path.of("src/test/resources/golden/policies.txt");
  private static final double SHARE = 1e-6;
  private static final Figure[] FIGURES = {
    Figure.TTFT_MEAN,
    Figure.TTFT_P50,
    Figure.TTFT_P90,
    Figure.TTFT_P99,
    Figure.TPOT,
    Figure.HIT_RATE,
    Figure.GOODPUT,
    Figure.IMBALANCE,
    Figure.PREDICTED_MINUS_ACTUAL,
    Figure.REJECTED
  };

  /* Tenants with prompts of their own, long chats, thinking users: caches hold half of it. */
  private static final Trace CHATS =
      Chats.trace(
          """
          {"seed": 1, "seconds": 80, "sessions": 330, "tenants": 12, "zipf": 1, \
          "system": 2000, "turns": 4, "in": 400, "out": 120, "think": 15}
          """);

  @Test
  void behavesAsItDid() throws Exception {
    List<String> lines = new ArrayList<>();
    add(lines, new Fleet(4, 150_000, 1, "exact"));
    add(lines, new Fleet(8, 60_000, 1.8, "delayed:500"));
    if ("write".equals(System.getProperty("warmpath.golden"))) {
      Files.createDirectories(FILE.getParent());
      Files.write(FILE, lines);
    }
    String differences = differences(Files.readAllLines(FILE), lines);
    assertThat(differences)
        .as(
            "If this is meant, write %s with -Dwarmpath.golden=write. It is now:%n%s",
            FILE, String.join("\n", lines))
        .isEmpty();
  }

  @Test
  void noticesAChangedFigure() throws IOException {
    List<String> lines = Files.readAllLines(FILE);
    List<String> changed = new ArrayList<>(lines);
    String first = lines.get(2);
    String mean = first.trim().split("\\s+")[1];
    double slower = Double.parseDouble(mean) * (1 + 3e-6);
    changed.set(2, first.replace(mean, String.format(Locale.ROOT, "%.9g", slower)));
    assertThat(differences(lines, lines)).isEmpty();
    assertThat(differences(lines, changed)).contains(mean).hasLineCount(2);
    assertThat(differences(lines, lines.subList(1, lines.size()))).isNotEmpty();
  }

  private record Fleet(int replicas, long kvTokens, double rate, String index) {}

  private static void add(List<String> lines, Fleet fleet) throws InterruptedException {
    Study study =
        new Study(
            CHATS,
            new Study.Grid(
                Policies.names(),
                List.of(fleet.replicas),
                List.of(fleet.kvTokens),
                List.of(fleet.rate),
                false,
                List.of(IndexMode.parse(fleet.index))),
            new Study.Runs(1, 1, 2, 0.1, StepCost.H100X4, 0));
    List<CellFigures> cells = study.run(study.cells((done, all) -> {}), (done, all) -> {});
    Oracle oracle = cells.get(0).oracles().get(0);
    lines.add(cells.get(0).cell().setting());
    StringBuilder header = new StringBuilder(String.format("%-16s", "policy"));
    for (Figure figure : FIGURES) {
      header.append(String.format(" %20s", figure.key()));
    }
    lines.add(header.toString());
    for (CellFigures cell : cells) {
      StringBuilder line = new StringBuilder(String.format("%-16s", cell.cell().policy()));
      for (Figure figure : FIGURES) {
        line.append(String.format(Locale.ROOT, " %20.9g", cell.estimate(figure).mean()));
      }
      lines.add(line.toString());
    }
    lines.add(
        String.format(
            Locale.ROOT,
            "%-16s %20.9g %20.9g",
            "oracles",
            oracle.infiniteHitRate(),
            oracle.poolHitRate()));
    lines.add("");
  }

  /** The lines that differ, old and new; numbers are equal if they are nearly. */
  private static String differences(List<String> expected, List<String> actual) {
    StringBuilder differences = new StringBuilder();
    for (int i = 0; i < Math.max(expected.size(), actual.size()); i++) {
      String before = i < expected.size() ? expected.get(i) : "";
      String after = i < actual.size() ? actual.get(i) : "";
      if (!isSame(before.trim().split("\\s+"), after.trim().split("\\s+"))) {
        differences.append("- ").append(before).append("\n+ ").append(after).append('\n');
      }
    }
    return differences.toString();
  }

  private static boolean isSame(String[] before, String[] after) {
    boolean same = before.length == after.length;
    for (int i = 0; same && i < before.length; i++) {
      same = before[i].equals(after[i]) || isNear(before[i], after[i]);
    }
    return same;
  }

  private static boolean isNear(String before, String after) {
    try {
      double one = Double.parseDouble(before);
      double other = Double.parseDouble(after);
      return Math.abs(one - other) <= SHARE * Math.max(1, Math.abs(one));
    } catch (NumberFormatException e) {
      return false;
    }
  }
}
