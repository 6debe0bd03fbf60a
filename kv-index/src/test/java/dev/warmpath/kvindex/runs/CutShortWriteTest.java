package dev.warmpath.kvindex.runs;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.snapshot.SnapshotOutput;
import java.io.OutputStream;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A write that is left half-done may have spoilt what engines share. */
class CutShortWriteTest {

  private final RunKvIndex index = new RunKvIndex(IndexLimits.unbounded(100));
  private final int slot = index.addEngine(CopyCounting.PER_COPY);
  private final int other = index.addEngine(CopyCounting.PER_COPY);
  private final StoredBlocks blocks = new StoredBlocks().unnamed(StorageTier.GPU, 0).add(1, 0);

  @Test
  @SuppressWarnings("NullAway") // a bug, on purpose
  void nothingIsWrittenBehindIt() {
    index.stored(slot, blocks);
    assertThatThrownBy(() -> index.layout(slot, null)).isInstanceOf(NullPointerException.class);

    assertThatThrownBy(() -> index.stored(other, blocks))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("half-done");
    assertThatThrownBy(() -> index.cleared(slot)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> index.removeEngine(other)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> index.addEngine(CopyCounting.PRESENCE))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(
            () -> index.writeTo(new SnapshotOutput(OutputStream.nullOutputStream(), 1000)))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aCallThatIsRefusedSpoilsNothing() {
    assertThatThrownBy(() -> index.stored(99, blocks)).isInstanceOf(IllegalArgumentException.class);
    assertThatCode(
            () -> {
              index.layout(slot, new CacheLayout(List.of(), 0, 0));
              index.stored(slot, blocks);
            })
        .doesNotThrowAnyException();
    Invariants.check(index);
  }
}
