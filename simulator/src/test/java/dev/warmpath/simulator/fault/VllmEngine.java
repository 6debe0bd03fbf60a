package dev.warmpath.simulator.fault;

import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.kvindex.enginehash.HashAlgorithm;
import dev.warmpath.simulator.engine.cache.BlockHashing;
import dev.warmpath.simulator.engine.cache.CacheEvent;
import dev.warmpath.simulator.engine.cache.CachedSequence;
import dev.warmpath.simulator.engine.cache.KvCache;
import dev.warmpath.simulator.engine.cache.KvCache.Hit;
import dev.warmpath.simulator.engine.cache.KvCacheConfig;
import dev.warmpath.simulator.live.TestHashing;
import dev.warmpath.simulator.live.publish.EventEncoder;
import dev.warmpath.simulator.live.publish.WireForm;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** vLLM's block pool and its events, in one of their two forms. */
final class VllmEngine extends FaultyEngine {

  private static final int BLOCKS = 120;
  private static final Map<String, String> ADAPTERS = Map.of("en", "/lora/en", "fr", "/lora/fr");

  private final EventEncoder encoder;
  private int blockTokens = 8;
  private KvCache cache;

  VllmEngine(WireForm form) {
    encoder = new EventEncoder(form, false, true);
    cache = newCache();
  }

  @Override
  void serve(int[] prompt, @Nullable String lora) {
    CachedSequence sequence = begin(prompt, lora);
    cache.release(sequence);
    publishEvents();
  }

  @Override
  void serveReporting(int[] prompt) {
    CachedSequence sequence = sequence(prompt, null);
    cache.report(sequence, cache.find(sequence));
    serve(prompt, null);
  }

  @Override
  void serveTwice(int[] prompt) {
    CachedSequence first = sequence(prompt, null);
    CachedSequence second = sequence(prompt, null);
    cache.allocate(first, cache.noHit(), 0, prompt.length);
    cache.allocate(second, cache.noHit(), 0, prompt.length);
    cache.release(first);
    cache.release(second);
    publishEvents();
  }

  @Override
  int reusable(int[] prompt, @Nullable String lora) {
    return cache.find(sequence(prompt, lora)).tokens();
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

  private CachedSequence begin(int[] prompt, @Nullable String lora) {
    CachedSequence sequence = sequence(prompt, lora);
    Hit hit = cache.find(sequence);
    cache.allocate(sequence, hit, hit.tokens(), prompt.length);
    return sequence;
  }

  private CachedSequence sequence(int[] prompt, @Nullable String lora) {
    return cache.sequence(prompt, new PromptKeys(lora, null));
  }

  private void publishEvents() {
    List<CacheEvent> events = cache.takeEvents();
    if (!events.isEmpty()) {
      publish(encoder.encode(now(), events, 0));
    }
  }

  private KvCache newCache() {
    BlockHashing hashing = TestHashing.of(HashAlgorithm.SHA256_CBOR, blockTokens, ADAPTERS);
    return new KvCache(KvCacheConfig.fullAttention(blockTokens, BLOCKS), hashing);
  }
}
