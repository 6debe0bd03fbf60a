package dev.warmpath.kvindex.runs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.CacheGroup.Kind;
import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RunKvIndexTest {

  private static final ChainSpace SPACE = new ChainSpace("m", 4, 0);
  private static final BlockChain PROMPT =
      BlockChain.of(SPACE, IntStream.range(0, 41).toArray(), PromptKeys.NONE);

  private final RunKvIndex index = new RunKvIndex(IndexLimits.unbounded(4));
  private int slot;

  @BeforeEach
  void addEngine() {
    slot = index.addEngine(CopyCounting.PER_COPY);
    index.layout(slot, fullAttention(1, 0));
  }

  @Test
  void creditsContiguousBlocksFromTheFirst() {
    store(0, 3);
    assertThat(matched()).isEqualTo(12);
    store(4, 6);
    assertThat(matched()).isEqualTo(12);
    store(3, 4);
    assertThat(matched()).isEqualTo(24);
  }

  @Test
  void slowerTiersCountOnlyBehindWhatTheGpuGives() {
    store(0, 2);
    store(3, 5);
    index.stored(slot, new StoredBlocks().unnamed(StorageTier.CPU, 0).add(hash(2), 0));
    store(2, 3);
    index.removed(slot, new RemovedBlocks().from(StorageTier.GPU, 0).add(hash(2)));

    assertThat(matched(PROMPT, StorageTier.GPU)).isEqualTo(8);
    assertThat(matched(PROMPT, StorageTier.CPU)).as("block 3 is on the GPU alone").isEqualTo(12);
    index.stored(slot, new StoredBlocks().unnamed(StorageTier.CPU, 0).add(hash(3), 0));
    assertThat(matched(PROMPT, StorageTier.CPU)).isEqualTo(16);
  }

  @Test
  void neverCreditsTheWholePrompt() {
    store(0, 10);
    BlockChain prompt = BlockChain.of(SPACE, IntStream.range(0, 40).toArray(), PromptKeys.NONE);
    assertThat(matched(prompt, StorageTier.GPU)).isEqualTo(36);
  }

  @Test
  void keepsBlockUntilItsLastCopyIsRemoved() {
    store(0, 2);
    store(0, 1);
    remove(0);
    assertThat(matched()).isEqualTo(8);
    remove(0);
    assertThat(matched()).isZero();
    store(0, 1);
    assertThat(matched()).isEqualTo(8);
  }

  @Test
  void forgetsPresentBlockAtOnceWithoutCounting() {
    slot = index.addEngine(CopyCounting.PRESENCE);
    index.layout(slot, fullAttention(1, 0));
    store(0, 2);
    store(0, 1);
    remove(0);
    assertThat(matched()).isZero();
  }

  @Test
  void adoptsOrphansWhenTheirAncestorIsNamed() {
    store(2, 4);
    store(1, 2);
    assertThat(index.stats(slot).orphanBlocks()).isEqualTo(3);
    store(0, 1);
    assertThat(index.stats(slot).orphanBlocks()).isZero();
    assertThat(matched()).isEqualTo(16);
  }

  @Test
  void dropsTheOldestOrphanWhenThereIsNoRoom() {
    store(1, 6);
    assertThat(index.stats(slot).orphansDropped()).isEqualTo(1);
    store(0, 1);
    assertThat(matched()).isEqualTo(4);
    store(1, 2);
    assertThat(matched()).isEqualTo(24);
  }

  @Test
  void namesBlocksStoredWithoutName() {
    index.stored(slot, new StoredBlocks().unnamed(StorageTier.CPU, 0).add(hash(0), 0));
    store(0, 1);
    index.stored(slot, new StoredBlocks().unnamed(StorageTier.CPU, 0).add(hash(1), 0));
    assertThat(matched(PROMPT, StorageTier.CPU)).isEqualTo(4);
    store(1, 2);
    remove(0);
    remove(1);
    assertThat(matched(PROMPT, StorageTier.GPU)).isZero();
    assertThat(matched(PROMPT, StorageTier.CPU)).isEqualTo(8);
  }

  @Test
  void whatThereIsNoRoomForStaysNameless() {
    RunKvIndex full = new RunKvIndex(new IndexLimits(4, 200_000));
    int store = full.addEngine(CopyCounting.PRESENCE);
    int namer = full.addEngine(CopyCounting.PRESENCE);
    long[] hashes = {7, 8, 9};
    assertThat(full.joined(store, namer, StorageTier.GPU, 0, hashes, 3)).isEqualTo(3);
    assertThat(hashes).containsExactly(7, 8, 9);
    assertThat(full.evictedBlocks()).as("who asks counts them").isZero();
  }

  @Test
  void creditsNoneOfTwoBlocksWithOneEngineHash() {
    store(0, 2);
    index.stored(
        slot,
        new StoredBlocks().atRoot(StorageTier.GPU, 0, SPACE.rootKey()).add(hash(0), 77).add(5, 78));
    assertThat(matched()).isZero();
    assertThat(index.stats(slot).contradictions()).isEqualTo(2);
    remove(0);
    remove(0);
    store(0, 1);
    assertThat(matched()).isEqualTo(8);
  }

  @Test
  void needsAllGroupsToAgree() {
    index.layout(
        slot,
        new CacheLayout(
            List.of(
                new CacheGroup(0, Kind.FULL_ATTENTION, 4, 0),
                new CacheGroup(1, Kind.SLIDING_WINDOW, 4, 9),
                new CacheGroup(2, Kind.MAMBA, 8, 0)),
            1,
            0));
    store(0, 10);
    assertThat(matched()).isZero();
    unnamed(1, 4, 5, 6, 7);
    unnamed(2, 5, 7);
    assertThat(matched()).isEqualTo(32);
    index.removed(slot, new RemovedBlocks().from(StorageTier.GPU, 1).add(hash(6)));
    assertThat(matched()).isEqualTo(24);
    index.removed(slot, new RemovedBlocks().from(StorageTier.GPU, 2).add(hash(5)));
    assertThat(matched()).isZero();
  }

  @Test
  void dropsMatchedBlocksOnlyWhereGroupsAgreeOnBoth() {
    index.layout(slot, fullAttention(1, 1));
    store(0, 3);
    assertThat(matched()).isEqualTo(8);
    store(3, 10);
    assertThat(matched()).isEqualTo(36);
  }

  @Test
  void reusesSlotOfRemovedEngineWithoutItsBlocks() {
    store(0, 3);
    index.removeEngine(slot);
    assertThatThrownBy(() -> index.stats(slot)).hasMessageContaining("slot=" + slot);
    assertThat(index.addEngine(CopyCounting.PER_COPY)).isEqualTo(slot);
    index.layout(slot, fullAttention(1, 0));
    assertThat(matched()).isZero();
  }

  @Test
  void holdsNothingAfterClear() {
    store(0, 3);
    store(5, 6);
    index.cleared(slot);
    assertThat(matched()).isZero();
    assertThat(index.stats(slot).heldBlocks()).isZero();
    store(0, 3);
    assertThat(matched()).isEqualTo(12);
  }

  @Test
  void tellsHowManyBlocksTheGpuHolds() {
    store(0, 3);
    store(5, 7); // their parent is unknown
    assertThat(index.blocksOnGpu(slot)).isEqualTo(5);
    index.suspended(slot);
    assertThat(index.blocksOnGpu(slot)).isZero();
    assertThat(index.blocksOnGpu(slot + 1)).isEqualTo(KvIndex.UNKNOWN);
    index.stored(slot, new StoredBlocks().atRoot(StorageTier.CPU, 0, 1).add(7, 7));
    assertThat(index.blocksOnGpu(slot)).isEqualTo(KvIndex.UNKNOWN);
  }

  @Test
  void adoptsLongChainWithoutRecursion() {
    RunKvIndex large = new RunKvIndex(IndexLimits.unbounded(200_000));
    int engine = large.addEngine(CopyCounting.PER_COPY);
    StoredBlocks chain = new StoredBlocks().behind(StorageTier.GPU, 0, 0);
    for (int i = 1; i <= 100_000; i++) {
      chain.add(i, i);
    }
    large.stored(engine, chain);
    assertThat(large.stats(engine).orphanBlocks()).isEqualTo(100_000);
    large.stored(engine, new StoredBlocks().atRoot(StorageTier.GPU, 0, 1).add(0, 0));
    assertThat(large.stats(engine).namedBlocks()).isEqualTo(100_001);
  }

  @Test
  void readersSeeWholeWritesOnly() throws Exception {
    AtomicBoolean done = new AtomicBoolean();
    ExecutorService reader = Executors.newSingleThreadExecutor();
    Future<Set<Integer>> seen =
        reader.submit(() -> {
          Set<Integer> lengths = new HashSet<>();
          while (!done.get()) {
            lengths.add(matched());
          }
          return lengths;
        });
    for (int i = 0; i < 5_000; i++) {
      store(0, 8);
      index.cleared(slot);
    }
    done.set(true);
    reader.shutdown();
    assertThat(Set.of(0, 32)).containsAll(seen.get());
  }

  /** Of an engine that holds much: a few runs with each write, whoever's it is. */
  @Test
  void clearOfALargeEngineIsDoneInPieces() {
    Leftovers leftovers = new Leftovers(4, 3);
    RunKvIndex large = new RunKvIndex(IndexLimits.unbounded(4), 1, leftovers);
    int cleared = large.addEngine(CopyCounting.PER_COPY);
    int other = large.addEngine(CopyCounting.PER_COPY);
    large.layout(cleared, fullAttention(1, 0));
    large.layout(other, fullAttention(1, 0));
    long empty = large.bytes();
    for (int prompt = 0; prompt < 20; prompt++) {
      large.stored(cleared, chain(prompt));
    }
    large.cleared(cleared);
    PrefixMatches matches = new PrefixMatches();
    for (int prompt = 0; prompt < 20; prompt++) {
      large.match(query(prompt), matches);
      assertThat(matches.tokens(cleared)).as("credited to nobody at once").isZero();
    }
    assertThat(large.stats(cleared).heldBlocks()).isZero();
    assertThat(leftovers.isEmpty()).isFalse();
    Invariants.check(large);

    large.stored(cleared, chain(0));
    large.match(query(0), matches);
    assertThat(matches.tokens(cleared)).isEqualTo(4);
    int writes = 0;
    while (!leftovers.isEmpty()) {
      large.removed(other, new RemovedBlocks().from(StorageTier.GPU, 0).add(1));
      Invariants.check(large);
      writes++;
    }
    assertThat(writes).isBetween(20 / 3 - 1, 20);
    large.match(query(0), matches);
    assertThat(matches.tokens(cleared)).isEqualTo(4);
    large.cleared(cleared);
    assertThat(large.bytes() - empty).as("tables never shrink").isLessThan(1 << 20);
  }

  private static StoredBlocks chain(int prompt) {
    return new StoredBlocks()
        .atRoot(StorageTier.GPU, 0, SPACE.rootKey())
        .add(1_000 + prompt, query(prompt).localHash(0));
  }

  private static BlockChain query(int prompt) {
    return BlockChain.of(
        SPACE, IntStream.range(100 * prompt, 100 * prompt + 5).toArray(), PromptKeys.NONE);
  }

  private static CacheLayout fullAttention(int withheldTokens, int droppedBlocks) {
    return new CacheLayout(
        List.of(new CacheGroup(0, Kind.FULL_ATTENTION, 4, 0)), withheldTokens, droppedBlocks);
  }

  private static long hash(int block) {
    return 1_000 + block;
  }

  private void store(int from, int to) {
    StoredBlocks blocks = new StoredBlocks();
    if (from == 0) {
      blocks.atRoot(StorageTier.GPU, 0, SPACE.rootKey());
    } else {
      blocks.behind(StorageTier.GPU, 0, hash(from - 1));
    }
    for (int i = from; i < to; i++) {
      blocks.add(hash(i), PROMPT.localHash(i));
    }
    index.stored(slot, blocks);
  }

  private void unnamed(int group, int... blocks) {
    StoredBlocks stored = new StoredBlocks().unnamed(StorageTier.GPU, group);
    for (int block : blocks) {
      stored.add(hash(block), 0);
    }
    index.stored(slot, stored);
  }

  private void remove(int block) {
    index.removed(slot, new RemovedBlocks().from(StorageTier.GPU, 0).add(hash(block)));
  }

  private int matched() {
    return matched(PROMPT, StorageTier.DISK);
  }

  private int matched(BlockChain prompt, StorageTier tier) {
    PrefixMatches matches = new PrefixMatches();
    index.match(prompt, matches);
    return matches.tokens(slot, tier);
  }
}
