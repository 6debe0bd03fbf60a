package dev.warmpath.simulator.study;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.simulator.engine.CacheListener;
import dev.warmpath.simulator.engine.CachedSequence;
import dev.warmpath.simulator.engine.KvCache;
import dev.warmpath.simulator.engine.KvCacheConfig;
import dev.warmpath.simulator.fleet.Measures;
import dev.warmpath.simulator.fleet.Workload;
import java.util.Comparator;
import java.util.stream.IntStream;

/**
 * What one cache for the whole fleet would have hit: the same requests as in a run, in the order in
 * which they arrived there, each over before the next one comes. Hits are counted as engines count
 * them; answers take no room.
 *
 * @param infiniteHitRate of a cache that forgets nothing: no policy can hit more
 * @param poolHitRate of one cache with as many blocks as all engines together, host tiers included
 */
record Oracle(double infiniteHitRate, double poolHitRate) {

  /**
   * @param window requests before it fill the caches only
   */
  static Oracle of(
      Workload workload, Measures run, KvCacheConfig cache, int engines, Window window) {
    Replay replay = new Replay(workload, run, window);
    long blocks = cache.blocks() - 1L + cache.hostBlocks();
    long fleet = engines * blocks + 1; // with one null block
    return new Oracle(
        replay.hitRate(cache.blockSizeTokens(), replay.blocks(cache.blockSizeTokens())),
        replay.hitRate(cache.blockSizeTokens(), fleet));
  }

  /** Plays what was answered in a run to one cache. */
  private static final class Replay {
    private final Workload workload;
    private final Measures run;
    private final Window window;
    private final int[] requests;

    Replay(Workload workload, Measures run, Window window) {
      this.workload = workload;
      this.run = run;
      this.window = window;
      requests =
          IntStream.range(0, run.requests())
              .filter(i -> !Double.isNaN(run.firstMillis(i)) && !run.isRejected(i))
              .boxed()
              .sorted(Comparator.comparingDouble(run::arrivedSeconds))
              .mapToInt(i -> i)
              .toArray();
    }

    /** As many as nothing is ever evicted from. */
    long blocks(int blockSize) {
      long blocks = 2;
      for (int request : requests) {
        blocks += run.promptTokens(request) / blockSize + 1;
      }
      return blocks;
    }

    double hitRate(int blockSize, long blocks) {
      int size = (int) Math.min(blocks, Integer.MAX_VALUE);
      KvCache cache = new KvCache(KvCacheConfig.fullAttention(blockSize, size), new Deaf());
      long prompts = 0;
      long hits = 0;
      for (int request : requests) {
        int tokens = run.promptTokens(request);
        CachedSequence prompt = new CachedSequence(workload.names(request), tokens);
        KvCache.Hit hit = cache.find(prompt, tokens);
        int found = hit.tokens();
        cache.allocate(prompt, hit, found, tokens);
        cache.release(prompt);
        boolean counted = window.contains(run.arrivedSeconds(request));
        prompts += counted ? tokens : 0;
        hits += counted ? found : 0;
      }
      return (double) hits / Math.max(1, prompts);
    }
  }

  private static final class Deaf implements CacheListener {
    @Override
    public void stored(
        CachedSequence sequence, CacheGroup group, int fromBlock, int toBlock, int heldFrom) {}

    @Override
    public void removed(int group, long blockName) {}

    @Override
    public void cleared() {}
  }
}
