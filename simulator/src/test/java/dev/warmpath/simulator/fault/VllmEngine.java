package dev.warmpath.simulator.fault;

import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.kvindex.enginehash.HashAlgorithm;
import dev.warmpath.simulator.engine.KvCache;
import dev.warmpath.simulator.engine.KvCache.Hit;
import dev.warmpath.simulator.engine.KvCacheConfig;
import dev.warmpath.simulator.live.BlockHashing;
import dev.warmpath.simulator.live.CacheEvent;
import dev.warmpath.simulator.live.EventEncoder;
import dev.warmpath.simulator.live.HashedRequest;
import dev.warmpath.simulator.live.TestHashing;
import dev.warmpath.simulator.live.TokenEngine.EventRecorder;
import dev.warmpath.simulator.live.TokenRequest;
import dev.warmpath.simulator.live.WireForm;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** vLLM's block pool and its events, in one of their two forms. */
final class VllmEngine extends FaultyEngine {

  private static final int BLOCKS = 120;
  private static final Map<String, String> ADAPTERS = Map.of("en", "/lora/en", "fr", "/lora/fr");

  private final EventEncoder encoder;
  private int blockTokens = 8;
  private BlockHashing hashing;
  private EventRecorder recorder;
  private KvCache cache;

  VllmEngine(WireForm form) {
    encoder = new EventEncoder(form, false, true);
    cache = newCache();
  }

  @Override
  void serve(int[] prompt, @Nullable String lora) {
    HashedRequest sequence = begin(prompt, lora);
    cache.release(sequence);
    publishEvents();
  }

  @Override
  void serveTwice(int[] prompt) {
    HashedRequest first = sequence(prompt, null);
    HashedRequest second = sequence(prompt, null);
    cache.allocate(first, cache.noHit(), 0, prompt.length);
    cache.allocate(second, cache.noHit(), 0, prompt.length);
    cache.release(first);
    cache.release(second);
    publishEvents();
  }

  @Override
  int reusable(int[] prompt, @Nullable String lora) {
    return cache.find(sequence(prompt, lora), prompt.length).tokens();
  }

  @Override
  void reset() {
    cache.reset();
  }

  @Override
  void resize() {
    blockTokens *= 2;
    cache = newCache();
  }

  @Override
  void restart() {
    super.restart();
    cache = newCache();
  }

  private HashedRequest begin(int[] prompt, @Nullable String lora) {
    HashedRequest sequence = sequence(prompt, lora);
    Hit hit = cache.find(sequence, prompt.length);
    cache.allocate(sequence, hit, hit.tokens(), prompt.length);
    return sequence;
  }

  private HashedRequest sequence(int[] prompt, @Nullable String lora) {
    PromptKeys keys = new PromptKeys(lora, null);
    TokenRequest request = new TokenRequest("", prompt, new int[1], keys, true);
    return new HashedRequest(request, blockTokens, hashing);
  }

  private void publishEvents() {
    List<CacheEvent> events = recorder.takeEvents();
    if (!events.isEmpty()) {
      publish(encoder.encode(now(), events, rank));
    }
  }

  private KvCache newCache() {
    hashing = TestHashing.of(HashAlgorithm.SHA256_CBOR, blockTokens, ADAPTERS);
    recorder = new EventRecorder();
    return new KvCache(KvCacheConfig.fullAttention(blockTokens, BLOCKS), recorder);
  }
}
