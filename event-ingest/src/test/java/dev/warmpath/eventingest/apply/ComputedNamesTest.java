package dev.warmpath.eventingest.apply;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.StreamCounter;
import dev.warmpath.eventingest.StreamCounters;
import dev.warmpath.eventingest.hashing.KnownScheme;
import dev.warmpath.eventingest.hashing.PromptHasher.HashedPrompt;
import dev.warmpath.eventingest.wire.BlockPlace;
import dev.warmpath.eventingest.wire.BlockTokens;
import dev.warmpath.eventingest.wire.ColumnsOf;
import dev.warmpath.eventingest.wire.EventRow.BlockKeys;
import dev.warmpath.eventingest.wire.EventRow.GroupSpec;
import dev.warmpath.eventingest.wire.KvEvent;
import dev.warmpath.eventingest.wire.KvEvent.BlockRemoved;
import dev.warmpath.eventingest.wire.KvEvent.BlockStored;
import dev.warmpath.eventingest.wire.Naming;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.ExtraKey;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.kvindex.enginehash.EngineHasher;
import dev.warmpath.kvindex.enginehash.HashAlgorithm;
import dev.warmpath.kvindex.enginehash.HashScheme;
import dev.warmpath.kvindex.enginehash.HashScheme.HashedKeys;
import dev.warmpath.kvindex.runs.RunKvIndex;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** An engine whose first blocks nobody heard of, and a router that computes their names. */
final class ComputedNamesTest {

  private static final int SIZE = 8;
  private static final ChainSpace SPACE = new ChainSpace("m", SIZE, 0);
  private static final int[] PROMPT = IntStream.range(1, 1 + 6 * SIZE).toArray();
  private static final PromptKeys SALT = new PromptKeys(null, "tenant");

  private final RunKvIndex index = new RunKvIndex(IndexLimits.unbounded(1000));
  private final StreamCounters counters = new StreamCounters();
  private final EventApplier applier = new EventApplier(index, source(), counters);

  @Test
  void namesAreWantedWhileBlocksWaitForParentsOfAKnownEngine() {
    store(hasher("17"), PROMPT, 2, 3, PromptKeys.NONE);
    store(hasher("17"), other(), 0, 1, PromptKeys.NONE);
    assertThat(applier.wanted()).as("its seed is not known").isNull();
    applier.reset();
    store(hasher("0"), PROMPT, 2, 3, PromptKeys.NONE);
    assertThat(applier.wanted()).as("nothing has shown it").isNull();
    store(hasher("0"), other(), 0, 1, PromptKeys.NONE);
    assertThat(applier.wanted()).isNotNull();
    applier.clear();
    assertThat(applier.wanted()).isNull();
  }

  @Test
  void nothingIsCreditedBeforeTheEngineShowsIt() {
    late();
    compute(PROMPT, PromptKeys.NONE);
    assertThat(applier.stats().orphanBlocks()).isZero();
    assertThat(applier.stats().suspendedBlocks()).isEqualTo(5);
    assertThat(counters.get(StreamCounter.COMPUTED_NAMES)).isEqualTo(5);
    assertThat(predicted(PROMPT)).isZero();

    store(hasher("0"), PROMPT, 3, 4, PromptKeys.NONE);
    assertThat(predicted(PROMPT)).isEqualTo(4 * SIZE);
    assertThat(counters.get(StreamCounter.CONFIRMED_BLOCKS)).isEqualTo(3);
  }

  @Test
  void removalDropsWhatWasComputed() {
    late();
    compute(PROMPT, PromptKeys.NONE);
    apply(new BlockRemoved(new long[] {hash(PROMPT, 1)}, BlockPlace.GPU));
    store(hasher("0"), PROMPT, 3, 4, PromptKeys.NONE);
    assertThat(predicted(PROMPT)).as("block 1 is gone").isZero();
    store(hasher("0"), PROMPT, 0, 2, PromptKeys.NONE);
    assertThat(predicted(PROMPT)).isEqualTo(4 * SIZE);
    apply(new BlockRemoved(new long[] {hash(PROMPT, 2)}, BlockPlace.GPU));
    assertThat(predicted(PROMPT)).isEqualTo(2 * SIZE);
  }

  @Test
  void answersConfirmNothingOfAnEngineWithComputedNames() {
    late();
    compute(PROMPT, PromptKeys.NONE);
    applier.reused(BlockChain.of(SPACE, PROMPT, PromptKeys.NONE), 5 * SIZE);
    assertThat(predicted(PROMPT)).isZero();
    assertThat(applier.learned().anyComputed()).isTrue();
    applier.clear();
    assertThat(applier.learned().anyComputed()).isFalse();
    assertThat(applier.stats().suspendedBlocks()).isZero();
  }

  @Test
  void namesOfAnEarlierSchemeAreNotTaken() {
    late();
    HashedPrompt before = hashed(PROMPT, PromptKeys.NONE);
    applier.reset();
    late();
    applier.computed(before);
    assertThat(applier.stats().suspendedBlocks()).isZero();
  }

  @Test
  void keysAreCoveredOnceTheyHaveFitted() {
    late();
    assertThat(scheme().covers(SPACE, SALT)).isFalse();
    store(hasher("0"), other(), 0, 1, SALT);
    assertThat(scheme().covers(SPACE, SALT)).isTrue();
    assertThat(scheme().covers(SPACE, new PromptKeys("fr", null))).isFalse();
    assertThat(scheme().covers(new ChainSpace("m", SIZE, 1), PromptKeys.NONE)).isFalse();

    store(hasher("0"), PROMPT, 1, 2, SALT);
    compute(PROMPT, SALT);
    store(hasher("0"), PROMPT, 2, 3, SALT);
    assertThat(predicted(PROMPT)).isZero();
    assertThat(matched(BlockChain.of(SPACE, PROMPT, SALT))).isEqualTo(3 * SIZE);
  }

  @Test
  void noMoreIsSuspendedThanTheEngineCanHold() {
    late();
    applier.gpuBlocks(4);
    compute(PROMPT, PromptKeys.NONE);
    assertThat(applier.stats().suspendedBlocks()).isZero();
    assertThat(counters.get(StreamCounter.COMPUTATIONS_SKIPPED)).isEqualTo(1);
  }

  /** Blocks 0 and 1 of the prompt were stored before anybody listened. */
  private void late() {
    store(hasher("0"), other(), 0, 1, PromptKeys.NONE);
    store(hasher("0"), PROMPT, 2, 3, PromptKeys.NONE);
    assertThat(applier.stats().orphanBlocks()).isEqualTo(1);
    assertThat(predicted(PROMPT)).isZero();
  }

  private void compute(int[] prompt, PromptKeys keys) {
    applier.computed(hashed(prompt, keys));
  }

  private HashedPrompt hashed(int[] prompt, PromptKeys keys) {
    return HashedPrompt.of(scheme(), BlockChain.of(SPACE, prompt, keys), prompt, keys);
  }

  private KnownScheme scheme() {
    return Objects.requireNonNull(applier.wanted());
  }

  private int predicted(int[] prompt) {
    return matched(BlockChain.of(SPACE, prompt, PromptKeys.NONE));
  }

  private int matched(BlockChain chain) {
    PrefixMatches matches = new PrefixMatches();
    index.match(chain, matches);
    return matches.tokens(applier.slot());
  }

  private void store(EngineHasher hasher, int[] prompt, int from, int to, PromptKeys keys) {
    long[] hashes = new long[to - from];
    @Nullable Long parent = null;
    byte[] hash = hasher.rootHash();
    for (int i = 0; i < to; i++) {
      hash = hasher.hash(hash, prompt, i * SIZE, keys.of(i, SIZE));
      if (i >= from) {
        hashes[i - from] = EngineHasher.low64(hash);
      } else {
        parent = EngineHasher.low64(hash);
      }
    }
    List<List<ExtraKey>> perBlock =
        keys.equals(PromptKeys.NONE)
            ? List.of()
            : IntStream.range(from, to).mapToObj(i -> keys.of(i, SIZE)).toList();
    int[] tokens = Arrays.copyOfRange(prompt, from * SIZE, to * SIZE);
    apply(
        new BlockStored(
            hashes,
            parent,
            new BlockTokens(tokens, SIZE, 0, Naming.DENSE),
            new BlockKeys(null, null, perBlock, Naming.DENSE),
            BlockPlace.GPU,
            new GroupSpec("full_attention", 0)));
  }

  private void apply(KvEvent event) {
    applier.apply(ColumnsOf.events(List.of(event)));
  }

  private static long hash(int[] prompt, int block) {
    EngineHasher hasher = hasher("0");
    byte[] hash = hasher.rootHash();
    for (int i = 0; i <= block; i++) {
      hash = hasher.hash(hash, prompt, i * SIZE, List.of());
    }
    return EngineHasher.low64(hash);
  }

  private static int[] other() {
    return IntStream.range(500, 500 + SIZE).toArray();
  }

  private static EngineHasher hasher(String seed) {
    return new EngineHasher(
        new HashScheme(HashAlgorithm.SHA256, seed, HashedKeys.TAGGED, SIZE, 0), name -> name);
  }

  private static EngineSource source() {
    return new EngineSource(new EngineId("r", 0), "m", "tcp://x", false, null, EngineDialect.VLLM);
  }
}
