package dev.warmpath.eventingest.apply;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineRules;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.StreamCounter;
import dev.warmpath.eventingest.StreamCounters;
import dev.warmpath.eventingest.apply.EventApplier.Effect;
import dev.warmpath.eventingest.wire.BlockPlace;
import dev.warmpath.eventingest.wire.BlockTokens;
import dev.warmpath.eventingest.wire.ColumnsOf;
import dev.warmpath.eventingest.wire.EventRow.BlockKeys;
import dev.warmpath.eventingest.wire.EventRow.GroupSpec;
import dev.warmpath.eventingest.wire.KvEvent;
import dev.warmpath.eventingest.wire.KvEvent.AllBlocksCleared;
import dev.warmpath.eventingest.wire.KvEvent.BlockRemoved;
import dev.warmpath.eventingest.wire.KvEvent.BlockStored;
import dev.warmpath.eventingest.wire.Naming;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.ExtraKey;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.kvindex.runs.RunKvIndex;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class EventApplierTest {

  private static final int[] PROMPT = IntStream.range(0, 33).toArray();
  private static final GroupSpec FULL = new GroupSpec("full_attention", 0);
  private static final GroupSpec WINDOW = new GroupSpec("sliding_window", 17);

  private final KvIndex index = new RunKvIndex(IndexLimits.unbounded(1000));
  private final StreamCounters counters = new StreamCounters();
  private EventApplier applier = applier(EngineDialect.VLLM, 0);

  @Test
  void storesInTheMainGroupNameBlocks() {
    apply(gpu(0, FULL, 8, 0, 4));

    assertThat(applier.space()).isEqualTo(new ChainSpace("m", 8, 0));
    assertThat(predicted()).isEqualTo(32);
  }

  @Test
  void hitIsCappedBeforeTheLastToken() {
    apply(gpu(0, FULL, 8, 0, 4));

    assertThat(predicted(Arrays.copyOf(PROMPT, 32), PromptKeys.NONE)).isEqualTo(24);
  }

  @Test
  void droppedBlocksComeFromTheSource() {
    applier = applier(EngineDialect.VLLM, 1);
    apply(gpu(0, FULL, 8, 0, 4));

    assertThat(predicted()).isEqualTo(24);
  }

  @Test
  void sparseWindowBlocksAreNamedByTheMainGroup() {
    apply(sparse(1, WINDOW, 8, 0, 4, 2, 3), gpu(0, FULL, 8, 0, 4));
    assertThat(predicted()).isEqualTo(32);
    assertThat(counters.get(StreamCounter.SPARSE_BLOCKS)).isEqualTo(2);

    apply(new BlockRemoved(new long[] {hash(2)}, new BlockPlace("GPU", 1, null)));
    assertThat(predicted()).as("the window before block 4 has a hole").isZero();
  }

  @Test
  void groupThatOnlyRemovesIsNotAgreedWith() {
    apply(gpu(0, FULL, 8, 0, 4));
    apply(new BlockRemoved(new long[] {77}, new BlockPlace("GPU", 1, null)));

    assertThat(predicted()).isZero();
    assertThat(counters.get(StreamCounter.UNKNOWN_GROUP_REMOVALS)).isEqualTo(1);
  }

  @Test
  void groupBelowTheOnlyOneSeenIsNotAgreedWith() {
    apply(gpu(2, FULL, 8, 0, 4));

    assertThat(predicted()).isZero();
  }

  @Test
  void groupOfUnknownKindIsNotAgreedWith() {
    apply(gpu(0, FULL, 8, 0, 4), gpu(1, new GroupSpec("chunked_local_attention", 0), 8, 0, 4));

    assertThat(predicted()).isZero();
  }

  @Test
  void groupBeyondAllMeasureIsNotAgreedWith() {
    apply(gpu(0, FULL, 8, 0, 4), gpu(1_000_000_000, FULL, 8, 0, 4));

    assertThat(predicted()).isZero();
  }

  @Test
  void pieceOfABlockIsNotCredited() {
    apply(gpu(0, FULL, 8, 0, 2));
    Effect effect = apply(store(0, FULL, 4, new long[] {99}, hash(1), 16, 20));

    assertThat(effect).isEqualTo(Effect.NONE);
    assertThat(predicted()).isEqualTo(16);
    assertThat(counters.get(StreamCounter.PARTIAL_BLOCKS)).isEqualTo(1);
  }

  @Test
  void anotherBlockSizeForgetsAndAlarms() {
    apply(gpu(0, FULL, 8, 0, 4));
    Effect effect = apply(gpu(0, FULL, 16, 0, 2));

    assertThat(effect).isEqualTo(Effect.FORGOTTEN);
    assertThat(counters.get(StreamCounter.BLOCK_SIZE_CHANGES)).isEqualTo(1);
    assertThat(applier.space()).isEqualTo(new ChainSpace("m", 16, 0));
    assertThat(predicted()).isEqualTo(32);
    assertThat(index.stats(applier.slot()).heldBlocks()).isEqualTo(2);
  }

  @Test
  void storageThatIsNotTheReplicasOwnIsNotCredited() {
    apply(gpu(0, FULL, 8, 0, 1));
    apply(
        store(new BlockPlace("CPU", 0, "REMOTE"), FULL, 8, hashes(1, 4), hash(0), 8, 32),
        store(new BlockPlace("TAPE", 0, null), FULL, 8, hashes(1, 4), hash(0), 8, 32));

    assertThat(predicted()).isEqualTo(8);
    assertThat(counters.get(StreamCounter.REMOTE_BLOCKS)).isEqualTo(3);
    assertThat(counters.get(StreamCounter.UNKNOWN_MEDIUM_BLOCKS)).isEqualTo(3);
  }

  @Test
  void placeholdersCountUnderTheNamesOfTheGpu() {
    apply(gpu(0, FULL, 8, 0, 4));
    apply(placeholders(0, 4));
    for (long hash : hashes(2, 4)) {
      apply(new BlockRemoved(new long[] {hash}, BlockPlace.GPU));
    }

    assertThat(predicted()).isEqualTo(32);
    assertThat(tokens(StorageTier.GPU)).isEqualTo(16);
    assertThat(counters.get(StreamCounter.TOKENLESS_BLOCKS)).isEqualTo(4);
  }

  @Test
  void connectorThatLeavesExtraKeysOutNamesNothing() {
    apply(gpu(0, FULL, 8, 0, 1));
    apply(store(new BlockPlace("CPU", 0, null), FULL, 8, hashes(1, 4), hash(0), 8, 32));

    assertThat(predicted()).isEqualTo(8);
    assertThat(counters.get(StreamCounter.UNNAMEABLE_BLOCKS)).isEqualTo(3);
  }

  @Test
  void adapterAndSaltPartBlocks() {
    List<List<ExtraKey>> perBlock =
        List.of(
            List.of(new ExtraKey.Lora("fr"), new ExtraKey.CacheSalt("s")),
            List.of(new ExtraKey.Lora("fr")),
            List.of(new ExtraKey.Lora("fr")),
            List.of(new ExtraKey.Lora("fr")));
    BlockStored plain = gpu(0, FULL, 8, 0, 4);
    apply(
        new BlockStored(
            plain.blockHashes(),
            null,
            plain.tokens(),
            new BlockKeys("fr", null, perBlock, Naming.DENSE),
            plain.place(),
            plain.spec()));

    assertThat(predicted()).isZero();
    assertThat(predicted(PROMPT, new PromptKeys("fr", null))).isZero();
    assertThat(predicted(PROMPT, new PromptKeys("fr", "s"))).isEqualTo(32);
  }

  @Test
  void lookaheadTokensAreWithheldAndTold() {
    int[] ids = Arrays.copyOf(PROMPT, 33);
    apply(
        new BlockStored(
            hashes(0, 4),
            null,
            new BlockTokens(ids, 8, 1, Naming.DENSE),
            BlockKeys.NONE,
            BlockPlace.GPU,
            FULL));

    assertThat(applier.space()).isEqualTo(new ChainSpace("m", 8, 1));
    assertThat(predicted()).isEqualTo(32);
    int[] parts = PROMPT.clone();
    parts[32] = 4711;
    assertThat(predicted(parts, PromptKeys.NONE)).isEqualTo(24);
  }

  @Test
  void pairsOfSglangWithholdTwoTokens() {
    applier = applier(EngineDialect.SGLANG, 0);
    long root = 7; // no hash that SGLang would give: a hidden name space
    apply(
        new BlockStored(
            new long[] {root, hash(1), hash(2), hash(3)},
            null,
            new BlockTokens(Arrays.copyOf(PROMPT, 33), 8, 1, Naming.DENSE),
            BlockKeys.NONE,
            BlockPlace.GPU,
            GroupSpec.UNSAID));

    assertThat(predicted()).as("hidden").isZero();
    assertThat(applier.space()).isEqualTo(new ChainSpace("m", 8, 1));
    assertThat(counters.get(StreamCounter.BLOCKS_STORED)).isEqualTo(4);
  }

  @Test
  void presenceIsNotCounted() {
    applier = applier(EngineDialect.SGLANG, 0);
    BlockStored twice = gpu(0, GroupSpec.UNSAID, 8, 0, 4);
    apply(twice);
    apply(twice);
    apply(new BlockRemoved(hashes(0, 4), BlockPlace.GPU));

    assertThat(index.stats(applier.slot()).heldBlocks()).isZero();
  }

  @Test
  void clearedEngineHoldsNothing() {
    apply(gpu(0, FULL, 8, 0, 4));
    Effect effect = apply(new AllBlocksCleared(), gpu(0, FULL, 8, 0, 1));

    assertThat(effect).isEqualTo(Effect.EMPTIED);
    assertThat(predicted()).isEqualTo(8);
  }

  private EventApplier applier(EngineDialect dialect, int droppedBlocks) {
    EngineRules rules = new EngineRules(dialect, droppedBlocks, dialect.removals(), 0);
    EngineSource source =
        new EngineSource(new EngineId("r", 0), "m", "tcp://x", false, null, rules);
    return new EventApplier(index, source, counters);
  }

  private Effect apply(KvEvent... events) {
    return applier.apply(ColumnsOf.events(List.of(events)));
  }

  private int predicted() {
    return predicted(PROMPT, PromptKeys.NONE);
  }

  private int predicted(int[] prompt, PromptKeys keys) {
    return match(prompt, keys).tokens(applier.slot());
  }

  private int tokens(StorageTier tier) {
    return match(PROMPT, PromptKeys.NONE).tokens(applier.slot(), tier);
  }

  private PrefixMatches match(int[] prompt, PromptKeys keys) {
    PrefixMatches matches = new PrefixMatches();
    ChainSpace space = applier.space();
    if (space != null) {
      index.match(BlockChain.of(space, prompt, keys), matches);
    }
    return matches;
  }

  private static long hash(int block) {
    return 1000 + block;
  }

  private static long[] hashes(int from, int to) {
    return IntStream.range(from, to).mapToLong(EventApplierTest::hash).toArray();
  }

  /** Blocks {@code from} to {@code to} of the prompt, from its beginning. */
  private static BlockStored gpu(int group, GroupSpec spec, int size, int from, int to) {
    return store(group, spec, size, hashes(from, to), null, from * size, to * size);
  }

  private static BlockStored sparse(
      int group, GroupSpec spec, int size, int from, int to, int... kept) {
    long[] hashes = IntStream.of(kept).mapToLong(EventApplierTest::hash).toArray();
    return store(group, spec, size, hashes, null, from * size, to * size);
  }

  private static BlockStored placeholders(int from, int to) {
    return new BlockStored(
        hashes(from, to),
        null,
        BlockTokens.of(0),
        BlockKeys.NONE,
        new BlockPlace("CPU", 0, null),
        GroupSpec.UNSAID);
  }

  private static BlockStored store(
      int group, GroupSpec spec, int size, long[] hashes, @Nullable Long parent, int from, int to) {
    return store(new BlockPlace("GPU", group, null), spec, size, hashes, parent, from, to);
  }

  private static BlockStored store(
      BlockPlace place,
      GroupSpec spec,
      int size,
      long[] hashes,
      @Nullable Long parent,
      int from,
      int to) {
    return new BlockStored(
        hashes,
        parent,
        BlockTokens.of(size, Arrays.copyOfRange(PROMPT, from, to)),
        BlockKeys.NONE,
        place,
        spec);
  }
}
