package dev.warmpath.kvindex.runs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.kvindex.HeldRows;
import org.junit.jupiter.api.Test;

class WalkTest {

  @Test
  void threadKeepsNothingOfTheLongestPromptThatItSaw() {
    Walk walk = new Walk();
    long small = walk.keptBytes();
    for (int run = 0; run < 100_000; run++) {
      walk.see(run, 0);
    }
    assertThat(walk.keptBytes()).isGreaterThan(800_000);
    walk.end();
    assertThat(walk.keptBytes()).isEqualTo(small);
  }

  @Test
  void rowsOfALongPromptOnALargeFleetAreGivenBack() {
    HeldRows rows = new HeldRows();
    int small = rows.keptWords();
    rows.begin(60_000);
    for (int shelf = 0; shelf < 2_000; shelf++) {
      rows.mark(rows.add(), 59_999, 1);
    }
    assertThat(rows.holds(1_999, 59_999)).isTrue();
    rows.trim();
    assertThat(rows.keptWords()).isEqualTo(small);
    rows.begin(64);
    assertThat(rows.holds(rows.add(), 1)).isFalse();
  }
}
