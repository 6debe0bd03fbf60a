package dev.warmpath.kvindex.runs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Many blocks that wait for one and the same parent. */
class RunKvIndexOrphansTest {

  private static final int ORPHANS = 1 << 18;
  private static final long PARENT = -1;

  /** One look at each sibling for each block would take many minutes, all else a second. */
  private static final Duration DEADLINE = Duration.ofSeconds(30);

  private final RunKvIndex index = new RunKvIndex(IndexLimits.unbounded(ORPHANS));
  private final StoredBlocks stored = new StoredBlocks();
  private int slot;

  @BeforeEach
  void addEngine() {
    slot = index.addEngine(CopyCounting.PRESENCE);
  }

  @Test
  void oldestOnesAreGivenUpAndTheOthersAdopted() {
    assertTimeoutPreemptively(DEADLINE, () -> store(2 * ORPHANS));
    assertThat(index.stats(slot).orphanBlocks()).isEqualTo(ORPHANS);
    assertThat(index.stats(slot).orphansDropped()).isEqualTo(ORPHANS);
    Invariants.check(index);

    index.stored(slot, stored.atRoot(StorageTier.GPU, 0, 7).add(PARENT, 1));
    assertThat(index.stats(slot).orphanBlocks()).isZero();
    assertThat(index.stats(slot).namedBlocks()).isEqualTo(ORPHANS + 1);
  }

  @Test
  void oldestOnesAreRemoved() {
    store(ORPHANS);
    assertTimeoutPreemptively(
        DEADLINE,
        () -> {
          for (int i = 0; i < ORPHANS / 2; i++) {
            index.removed(slot, new RemovedBlocks().from(StorageTier.GPU, 0).add(i));
          }
        });
    assertThat(index.stats(slot).orphanBlocks()).isEqualTo(ORPHANS / 2);
    Invariants.check(index);
  }

  private void store(int blocks) {
    for (int i = 0; i < blocks; i++) {
      index.stored(slot, stored.behind(StorageTier.GPU, 0, PARENT).add(i, i));
    }
  }
}
