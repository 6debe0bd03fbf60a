package dev.warmpath.simulator.study;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.simulator.fleet.Change;
import dev.warmpath.simulator.fleet.IndexMode;
import dev.warmpath.simulator.fleet.Pairs;
import dev.warmpath.simulator.fleet.Routers;
import java.util.List;
import org.junit.jupiter.api.Test;

final class StudyTableTest {

  @Test
  void hostTiersHaveAColumn() {
    Cell tiered =
        new Cell(
            "t",
            4,
            100_000,
            2_000_000,
            Double.NaN,
            1,
            IndexMode.NOW,
            "warm",
            Routers.ONE,
            Pairs.NONE,
            Change.NONE);
    List<String> lines =
        StudyTable.of(
                List.of(
                    Reports.cell(Cells.cell("warm"), 1000, Double.NaN),
                    Reports.cell(tiered, 1000, Double.NaN)))
            .lines()
            .toList();
    assertThat(lines.get(1)).contains("hit rate").doesNotContain("from host");
    assertThat(lines.get(4))
        .isEqualTo("t, 4 × 100k tokens + 2M on the host, rate 1.00, index exact");
    assertThat(lines.get(5)).contains("hit rate from host");
  }

  @Test
  void aTableForEachSettingTheFastestFirst() {
    List<String> lines =
        StudyTable.of(
                List.of(
                    Reports.cell(Cells.cell("slow"), 2000, 30),
                    Reports.cell(Cells.cell("nothing"), Double.NaN, Double.NaN),
                    Reports.cell(Cells.cell("fast"), 1000, Double.NaN),
                    Reports.cell(Cells.cell("fast", 8, 0.5), 1000, 1)))
            .lines()
            .toList();
    assertThat(lines).hasSize(6 + 4);
    assertThat(lines.get(0)).isEqualTo("chats, 4 × 100k tokens, rate 1.00, index exact");
    assertThat(lines.get(2)).startsWith("  fast ").contains(" 1,000        –     2,000 ");
    assertThat(lines.get(3)).startsWith("  slow ").contains(" 2,000       30     4,000 ");
    assertThat(lines.get(4)).startsWith("  nothing ");
    assertThat(lines.get(5)).contains("0.750 if it forgets nothing, 0.500 of the fleet's size");
    assertThat(lines.get(6))
        .isEqualTo("chats, 8 × 100k tokens, load 0.50 (rate 1.00), index exact");
  }
}
