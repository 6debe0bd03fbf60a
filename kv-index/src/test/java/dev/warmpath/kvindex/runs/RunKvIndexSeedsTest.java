package dev.warmpath.kvindex.runs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.proof.Seeds;
import org.junit.jupiter.api.Test;

/** The run index against the model, with long prompts and fleets, and snapshots in between. */
class RunKvIndexSeedsTest {

  private final Seeds<RunKvIndex> seeds =
      new Seeds<>(
          maxOrphans -> new RunKvIndex(IndexLimits.unbounded(maxOrphans), 1),
          Invariants::check,
          SnapshotFixture::reload);

  private final Seeds<RunKvIndex> lingering =
      new Seeds<>(
          maxOrphans -> new RunKvIndex(IndexLimits.unbounded(maxOrphans), 1, new Leftovers(0, 1)),
          Invariants::check,
          SnapshotFixture::reload);

  @Test
  void agreesWithTheModelForEverySeed() {
    assertThat(seeds.differenceFromModel()).isEmpty();
  }

  /** Every clear and suspension is left to later writes, a run each. */
  @Test
  void agreesWithTheModelWhileMuchIsLeftOver() {
    assertThat(lingering.differenceFromModel()).isEmpty();
  }

  @Test
  void agreesWithThePlainIndexInLongScripts() {
    assertThat(seeds.differenceInLongScripts()).isEmpty();
  }
}
