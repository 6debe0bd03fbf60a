package dev.warmpath.simulator.engine;

import static dev.warmpath.simulator.engine.TestEngines.HASHING;
import static dev.warmpath.simulator.engine.TestEngines.tokens;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.block.ExtraKey;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.simulator.live.BlockHash;
import dev.warmpath.simulator.live.CacheEvent;
import dev.warmpath.simulator.live.CacheEvent.Removed;
import dev.warmpath.simulator.live.CacheEvent.Stored;
import dev.warmpath.simulator.live.HashedRequest;
import dev.warmpath.simulator.live.TokenEngine.EventRecorder;
import dev.warmpath.simulator.live.TokenRequest;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** vLLM's rules, one by one, with blocks of 4 tokens. */
class KvCacheTest {

  private final EventRecorder recorder = new EventRecorder();
  private final KvCache cache = new KvCache(KvCacheConfig.fullAttention(4, 9), recorder);

  @Test
  void onlyFullBlocksAreCommittedAndAnnouncedTogether() {
    HashedRequest sequence = store(tokens(0, 11));

    List<CacheEvent> events = recorder.takeEvents();
    assertThat(events).hasSize(1);
    Stored stored = (Stored) events.get(0);
    assertThat(stored.hashes()).containsExactly(sequence.hash(0), sequence.hash(1));
    assertThat(stored.tokenIds()).isEqualTo(tokens(0, 8));
    assertThat(stored.parent()).isNull();
    assertThat(stored.extraKeys()).containsExactly(List.of(), List.of());
    assertThat(cache.committedBlocks()).isEqualTo(2);
  }

  @Test
  void chunksHangBelowTheLastBlockOfTheChunkBefore() {
    HashedRequest sequence = sequence(tokens(0, 12), PromptKeys.NONE);
    assertThat(cache.allocate(sequence, cache.noHit(), 0, 6)).isTrue();
    assertThat(cache.allocate(sequence, cache.noHit(), 6, 12)).isTrue();

    List<CacheEvent> events = recorder.takeEvents();
    assertThat(((Stored) events.get(0)).hashes()).containsExactly(sequence.hash(0));
    Stored second = (Stored) events.get(1);
    assertThat(second.parent()).isEqualTo(sequence.hash(0));
    assertThat(second.hashes()).containsExactly(sequence.hash(1), sequence.hash(2));
    assertThat(second.tokenIds()).isEqualTo(tokens(4, 8));
  }

  @Test
  void hitLeavesTheLastTokenToCompute() {
    cache.release(store(tokens(0, 12)));

    assertThat(hit(tokens(0, 12))).isEqualTo(8);
    assertThat(hit(tokens(0, 13))).isEqualTo(12);
    assertThat(hit(tokens(0, 1))).isZero();
  }

  @Test
  void copiesAreAnnouncedAndRemovedOneByOne() {
    HashedRequest first = store(tokens(0, 8));
    HashedRequest second = store(tokens(0, 8));
    assertThat(cache.committedBlocks()).isEqualTo(4);
    cache.release(first);
    cache.release(second);
    recorder.takeEvents();

    HashedRequest other = store(tokens(100, 20));

    assertThat(removed()).containsExactly(first.hash(1));
    assertThat(hit(tokens(0, 9))).isEqualTo(8);
    cache.release(other);
  }

  @Test
  void tailOfAFreedSequenceGoesFirst() {
    HashedRequest old = store(tokens(0, 16));
    cache.release(old);
    recorder.takeEvents();

    store(tokens(100, 24));

    assertThat(removed()).containsExactly(old.hash(3), old.hash(2));
    assertThat(hit(tokens(0, 17))).isEqualTo(8);
  }

  @Test
  void hitMovesABlockOutOfTheFreeQueue() {
    HashedRequest old = store(tokens(0, 8));
    cache.release(old);
    HashedRequest young = store(tokens(100, 8));
    cache.release(young);
    HashedRequest again = sequence(tokens(0, 9), PromptKeys.NONE);
    assertThat(cache.allocate(again, cache.find(again, 9), 8, 9)).isTrue();
    cache.release(again);
    recorder.takeEvents();

    HashedRequest filler = sequence(tokens(200, 24), PromptKeys.NONE);
    assertThat(cache.allocate(filler, cache.noHit(), 0, 24)).isTrue();

    assertThat(removed()).containsExactly(young.hash(1), young.hash(0));
    assertThat(hit(tokens(0, 9))).isEqualTo(8);
  }

  @Test
  void freedBlocksWithoutAHashAreReusedFirst() {
    HashedRequest sequence = store(tokens(0, 6));
    cache.release(sequence);
    recorder.takeEvents();
    for (int i = 0; i < 5; i++) {
      cache.release(store(tokens(0, 3)));
    }

    assertThat(recorder.takeEvents()).isEmpty();
    assertThat(hit(tokens(0, 6))).isEqualTo(4);
  }

  @Test
  void hitsInTheFreeQueueCountAsRoomTaken() {
    HashedRequest old = store(tokens(0, 16));
    cache.release(old);
    HashedRequest running = store(tokens(100, 16));

    HashedRequest next = sequence(tokens(0, 20), PromptKeys.NONE);
    assertThat(cache.allocate(next, cache.find(next, 20), 16, 20)).isFalse();
    cache.release(running);
    assertThat(cache.allocate(next, cache.find(next, 20), 16, 20)).isTrue();
    cache.checkInvariants();
  }

  @Test
  void resetNeedsAnUnusedCache() {
    HashedRequest sequence = store(tokens(0, 8));
    recorder.takeEvents();

    assertThat(cache.reset()).isFalse();
    assertThat(recorder.takeEvents()).isEmpty();
    cache.release(sequence);
    assertThat(cache.reset()).isTrue();
    assertThat(recorder.takeEvents()).containsExactly(new CacheEvent.Cleared());
    assertThat(hit(tokens(0, 9))).isZero();
    cache.checkInvariants();
  }

  @Test
  void saltMarksTheFirstBlockAndPartsTheChain() {
    PromptKeys keys = new PromptKeys("lora1", "salt");
    HashedRequest salted = sequence(tokens(0, 9), keys);
    assertThat(cache.allocate(salted, cache.noHit(), 0, 9)).isTrue();

    Stored stored = (Stored) recorder.takeEvents().get(0);
    ExtraKey lora = new ExtraKey.Lora("lora1");
    assertThat(stored.extraKeys())
        .containsExactly(List.of(lora, new ExtraKey.CacheSalt("salt")), List.of(lora));
    assertThat(stored.loraName()).isEqualTo("lora1");
    assertThat(hit(tokens(0, 9))).isZero();
  }

  @Test
  void slidingWindowGroupKeepsTheTailAndAgreesOnTheRest() {
    CacheGroup full = new CacheGroup(0, CacheGroup.Kind.FULL_ATTENTION, 4, 0);
    CacheGroup window = new CacheGroup(1, CacheGroup.Kind.SLIDING_WINDOW, 4, 8);
    KvCache hybrid = new KvCache(new KvCacheConfig(4, 40, List.of(full, window)), recorder);
    HashedRequest sequence = sequence(tokens(0, 25), PromptKeys.NONE);
    assertThat(hybrid.allocate(sequence, hybrid.noHit(), 0, 24)).isTrue();
    assertThat(hybrid.allocate(sequence, hybrid.noHit(), 24, 25)).isTrue();
    hybrid.release(sequence);

    CachedSequence next = sequence(tokens(0, 30), PromptKeys.NONE);
    assertThat(hybrid.find(next, 30).tokens()).isEqualTo(24);
    assertThat(hybrid.allocate(next, hybrid.find(next, 30), 24, 30)).isTrue();
    assertThat(next.tables[1].passed).isEqualTo(4);
    hybrid.release(next);
    hybrid.checkInvariants();
  }

  @Test
  void sparseGroupKeepsTheEndOfThePromptAndOfWhatItShares() {
    CacheGroup full = new CacheGroup(0, CacheGroup.Kind.FULL_ATTENTION, 4, 0);
    CacheGroup window = new CacheGroup(1, CacheGroup.Kind.SLIDING_WINDOW, 4, 8);
    KvCache sparse = new KvCache(new KvCacheConfig(4, 80, List.of(full, window), true), recorder);
    HashedRequest first = sequence(tokens(0, 37), PromptKeys.NONE);
    assertThat(sparse.allocate(first, sparse.noHit(), 0, 37)).isTrue();
    sparse.release(first);
    assertThat(storedInWindow()).containsExactly(first.hash(7), first.hash(8));

    int[] half = Arrays.copyOf(tokens(0, 37), 50);
    Arrays.fill(half, 16, 50, 7);
    HashedRequest second = sequence(half, PromptKeys.NONE);
    assertThat(sparse.find(second, 50).tokens()).isZero();
    assertThat(sparse.allocate(second, sparse.noHit(), 0, 50)).isTrue();
    sparse.release(second);
    assertThat(storedInWindow())
        .containsExactly(second.hash(2), second.hash(3), second.hash(10), second.hash(11));

    int[] third = Arrays.copyOf(tokens(0, 17), 20);
    assertThat(sparse.find(sequence(third, PromptKeys.NONE), 20).tokens()).isEqualTo(16);
    sparse.checkInvariants();
  }

  @Test
  void whatTheGpuLostComesBackFromTheHost() {
    KvCache tiered = tiered(16);
    HashedRequest old = store(tiered, tokens(0, 16));
    assertThat(storedOnHost()).containsExactly(old.hash(0), old.hash(1), old.hash(2), old.hash(3));
    tiered.release(old);
    tiered.release(store(tiered, tokens(100, 24)));
    recorder.takeEvents();

    HashedRequest again = sequence(tokens(0, 20), PromptKeys.NONE);
    KvCache.Hit hit = tiered.find(again, 20);
    assertThat(hit.tokens()).isEqualTo(16);
    assertThat(hit.hostTokens()).as("behind the two blocks that stayed").isEqualTo(8);
    assertThat(tiered.allocate(again, hit, 16, 20)).isTrue();
    assertThat(storedOnHost())
        .as("what is there is not copied again")
        .containsExactly(again.hash(4));
    assertThat(tiered.find(again, 20).hostTokens()).as("they are on the GPU again").isZero();
    tiered.release(again);
    tiered.checkInvariants();
  }

  @Test
  void gpuBlocksBehindAGapDoNotCount() {
    KvCache tiered = tiered(2);
    HashedRequest first = store(tiered, tokens(0, 12));
    assertThat(storedOnHost()).as("as many as fit").containsExactly(first.hash(0), first.hash(1));
    tiered.release(first);
    tiered.release(store(tiered, tokens(100, 28)));

    assertThat(tiered.find(sequence(tokens(0, 13), PromptKeys.NONE), 13).tokens()).isEqualTo(4);
  }

  @Test
  void theHostDropsTheEndOfWhatWasNotAskedForTheLongest() {
    KvCache tiered = tiered(6);
    HashedRequest old = store(tiered, tokens(0, 12));
    tiered.release(old);
    HashedRequest young = store(tiered, tokens(100, 12));
    tiered.release(young);
    tiered.find(sequence(tokens(0, 13), PromptKeys.NONE), 13);
    tiered.find(sequence(tokens(100, 13), PromptKeys.NONE), 13);
    tiered.find(sequence(tokens(0, 13), PromptKeys.NONE), 13);
    recorder.takeEvents();

    tiered.release(store(tiered, tokens(200, 16)));

    assertThat(removedFromHost())
        .containsExactly(young.hash(2), young.hash(1), young.hash(0), old.hash(2));
    assertThat(tiered.hostBlocks()).isEqualTo(6);
    tiered.checkInvariants();
  }

  @Test
  void resetEmptiesTheHostToo() {
    KvCache tiered = tiered(16);
    tiered.release(store(tiered, tokens(0, 16)));
    recorder.takeEvents();

    assertThat(tiered.reset()).isTrue();
    assertThat(recorder.takeEvents()).containsExactly(new CacheEvent.Cleared());
    assertThat(tiered.hostBlocks()).isZero();
    assertThat(tiered.find(sequence(tokens(0, 17), PromptKeys.NONE), 17).tokens()).isZero();
  }

  @Test
  void aHostTierHoldsOneGroup() {
    CacheGroup full = new CacheGroup(0, CacheGroup.Kind.FULL_ATTENTION, 4, 0);
    CacheGroup window = new CacheGroup(1, CacheGroup.Kind.SLIDING_WINDOW, 4, 8);
    KvCacheConfig hybrid = new KvCacheConfig(4, 40, List.of(full, window));
    assertThatThrownBy(() -> hybrid.withHost(1)).hasMessage("hostBlocks=1 groups=2");
    assertThatThrownBy(() -> KvCacheConfig.fullAttention(4, 9).withHost(-1))
        .hasMessage("hostBlocks=-1 groups=1");
  }

  private KvCache tiered(int hostBlocks) {
    return new KvCache(KvCacheConfig.fullAttention(4, 9).withHost(hostBlocks), recorder);
  }

  private List<BlockHash> storedOnHost() {
    return recorder.takeEvents().stream()
        .filter(event -> event instanceof Stored stored && stored.tier() == StorageTier.CPU)
        .flatMap(event -> ((Stored) event).hashes().stream())
        .toList();
  }

  private List<BlockHash> removedFromHost() {
    return recorder.takeEvents().stream()
        .filter(event -> event instanceof Removed removed && removed.tier() == StorageTier.CPU)
        .map(event -> ((Removed) event).hash())
        .toList();
  }

  private List<BlockHash> storedInWindow() {
    return recorder.takeEvents().stream()
        .filter(event -> event instanceof Stored stored && stored.group().index() == 1)
        .flatMap(event -> ((Stored) event).hashes().stream())
        .toList();
  }

  private HashedRequest store(int[] prompt) {
    return store(cache, prompt);
  }

  private static HashedRequest store(KvCache cache, int[] prompt) {
    HashedRequest sequence = sequence(prompt, PromptKeys.NONE);
    assertThat(cache.allocate(sequence, cache.noHit(), 0, prompt.length)).isTrue();
    return sequence;
  }

  private static HashedRequest sequence(int[] prompt, PromptKeys keys) {
    TokenRequest request = new TokenRequest("", prompt, new int[1], keys, true);
    return new HashedRequest(request, 4, HASHING);
  }

  private int hit(int[] prompt) {
    return cache.find(sequence(prompt, PromptKeys.NONE), prompt.length).tokens();
  }

  private List<BlockHash> removed() {
    return recorder.takeEvents().stream()
        .filter(Removed.class::isInstance)
        .map(event -> ((Removed) event).hash())
        .toList();
  }
}
