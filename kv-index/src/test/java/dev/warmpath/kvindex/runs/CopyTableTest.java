package dev.warmpath.kvindex.runs;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CopyTableTest {

  private final ByteBudget budget = new ByteBudget(1 << 20);
  private final CopyTable copies = new CopyTable(budget);

  @Test
  void copiesOfAShelfAreForgottenTogether() {
    copies.add(1, 7);
    copies.add(1, 8, 3);
    copies.skipNextStore(2, 7);
    copies.forget(1);
    assertThat(copies.more(1, 7)).isZero();
    assertThat(copies.more(1, 8)).isZero();
    assertThat(copies.more(2, 7)).isEqualTo(-1);
    assertThat(copies.bytes()).isPositive().isEqualTo(budget.usedBytes());

    copies.add(2, 7);
    assertThat(copies.isEmpty()).as("the last entry takes its shelf with it").isTrue();
    assertThat(budget.usedBytes()).isZero();
  }

  @Test
  void everyEntryIsVisited() {
    copies.add(1, -2);
    copies.add(3, 4);
    long[] seen = new long[1];
    copies.forEach(key -> seen[0] += copies.more((int) (key >>> 32), (int) key));
    assertThat(seen[0]).isEqualTo(2);
  }
}
