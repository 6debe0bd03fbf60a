package dev.warmpath.eventingest.apply;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.MovableClock;
import dev.warmpath.eventingest.StoreRules;
import dev.warmpath.eventingest.StreamCounters;
import dev.warmpath.eventingest.wire.BlockPlace;
import dev.warmpath.eventingest.wire.BlockTokens;
import dev.warmpath.eventingest.wire.ColumnsOf;
import dev.warmpath.eventingest.wire.EventRow.BlockKeys;
import dev.warmpath.eventingest.wire.EventRow.GroupSpec;
import dev.warmpath.eventingest.wire.KvEvent.BlockStored;
import dev.warmpath.kvindex.ForwardingIndex;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.runs.RunKvIndex;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** What a store says that it holds, before an engine has named it. */
final class WaitingForNamesTest {

  private static final int READERS = 100;
  private static final int BLOCKS = 4;
  private static final StoreRules RULES = new StoreRules("pool", null, true, "");

  private final MovableClock clock = new MovableClock();
  private final CountingIndex index = new CountingIndex();
  private final SharedStore store = new SharedStore(index, RULES, clock);

  @Test
  void whatIsStoredAgainDelaysNoOther() {
    store.stored(new long[] {1}, 0, 1);
    clock.pass(Duration.ofSeconds(20));
    store.stored(new long[] {2}, 0, 1);
    clock.pass(Duration.ofSeconds(5));
    store.stored(new long[] {1}, 0, 1);
    clock.pass(Duration.ofSeconds(26));
    store.tick();
    assertThat(store.nameless()).as("after 31 s, and 26 s").isEqualTo(1);
    clock.pass(Duration.ofSeconds(5));
    store.tick();
    assertThat(store.nameless()).isEqualTo(2);
  }

  /** The writer has all other events to apply meanwhile. */
  @Test
  void aTickLooksUpSoManyAndTheNextOnesTheRest() {
    for (int reader = 0; reader < READERS; reader++) {
      fill(reader);
    }
    assertThat(lookupsOf(() -> store.stored(unknown(8_000), 0, 8_000))).isBetween(1L, 65_536L);
    long[] known = hashes(READERS - 1);
    assertThat(lookupsOf(() -> store.stored(known, 0, BLOCKS))).isLessThan(BLOCKS * READERS);
    assertThat(store.named()).as("there was no time").isZero();
    clock.pass(Duration.ofSeconds(1));
    for (int tick = 0; tick < 8_004 * READERS / 16_384 + 2; tick++) {
      assertThat(lookupsOf(store::tick)).isLessThanOrEqualTo(16_384);
    }
    assertThat(store.named()).isEqualTo(BLOCKS);
    assertThat(index.stats(store.slot()).heldBlocks()).isEqualTo(BLOCKS);
    assertThat(store.nameless()).isZero();
    assertThat(lookupsOf(store::tick)).as("the next second's").isZero();

    long[] next = hashes(0);
    assertThat(lookupsOf(() -> store.stored(next, 0, BLOCKS))).isPositive();
    assertThat(store.named()).as("at once").isEqualTo(2 * BLOCKS);
  }

  private long lookupsOf(Runnable call) {
    long before = index.lookups;
    call.run();
    return index.lookups - before;
  }

  /** Another engine reads the store, and has a few blocks on its GPU. */
  private void fill(int reader) {
    EngineSource source =
        new EngineSource(
            new EngineId("r" + reader, 0), "m", "tcp://x", false, null, EngineDialect.VLLM);
    EventApplier applier = new EventApplier(index, source.with(RULES), new StreamCounters(), store);
    int[] tokens = IntStream.range(0, BLOCKS * 8).map(i -> reader * 1_000 + i).toArray();
    BlockStored stored =
        new BlockStored(
            hashes(reader),
            null,
            BlockTokens.of(8, tokens),
            BlockKeys.NONE,
            new BlockPlace("GPU", 0, null),
            new GroupSpec("full_attention", 0));
    applier.apply(ColumnsOf.events(List.of(stored)));
  }

  private static long[] hashes(int reader) {
    return LongStream.range(0, BLOCKS).map(i -> 1_000_000 + reader * 10L + i).toArray();
  }

  private static long[] unknown(int count) {
    return LongStream.range(1, 1 + count).toArray();
  }

  private static final class CountingIndex extends ForwardingIndex {
    long lookups;

    CountingIndex() {
      super(new RunKvIndex(IndexLimits.unbounded(1_000)));
    }

    @Override
    public int joined(int slot, int namer, StorageTier tier, int group, long[] hashes, int count) {
      lookups += count;
      return super.joined(slot, namer, tier, group, hashes, count);
    }
  }
}
