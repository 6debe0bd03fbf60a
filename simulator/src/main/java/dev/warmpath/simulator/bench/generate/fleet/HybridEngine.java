package dev.warmpath.simulator.bench.generate.fleet;

import java.util.Arrays;

/**
 * The two caches of one engine of a hybrid model.
 *
 * <p>Single writer.
 */
final class HybridEngine {

  private final int number;
  private final HybridPlan plan;
  private final EventWriter writer;
  private final EngineCache[] caches;

  HybridEngine(int number, HybridPlan plan, EventWriter writer) {
    this.number = number;
    this.plan = plan;
    this.writer = writer;
    caches =
        new EngineCache[] {
          new EngineCache(plan.capacityBlocks()), new EngineCache(plan.capacityBlocks())
        };
  }

  /** Blocks that both groups hold, counted apart. */
  long held() {
    return (long) caches[HybridPlan.FULL].size() + caches[HybridPlan.WINDOW].size();
  }

  /** The longest prefix of {@code chain} on which both groups agree, in blocks. */
  int depth(int[] chain) {
    int longest = 0;
    int behind = 0;
    for (int i = 0; i < chain.length && caches[HybridPlan.FULL].holds(chain[i]); i++) {
      behind = caches[HybridPlan.WINDOW].holds(chain[i]) ? behind + 1 : 0;
      if (behind >= Math.min(i + 1, plan.windowBlocks())) {
        longest = i + 1;
      }
    }
    return longest;
  }

  /** Computes {@code chain} behind its first {@code depth} blocks. */
  void compute(int[] chain, int depth) {
    for (EngineCache cache : caches) {
      touch(cache, chain);
    }
    for (int begin = depth; begin < chain.length; begin += HybridPlan.STORE_BLOCKS) {
      int end = Math.min(chain.length, begin + HybridPlan.STORE_BLOCKS);
      storeMissing(HybridPlan.FULL, chain, begin, end);
      storeMissing(HybridPlan.WINDOW, chain, begin, end);
    }
    for (EngineCache cache : caches) {
      touch(cache, chain);
    }
  }

  /** Drops what the window does not need of {@code chain}, its end first. */
  void dropOutside(int[] chain) {
    EngineCache cache = caches[HybridPlan.WINDOW];
    int[] dropped = new int[chain.length];
    int size = 0;
    for (int i = chain.length - plan.windowBlocks() - 1; i >= 0; i--) {
      if (cache.holds(chain[i])) {
        cache.remove(chain[i]);
        dropped[size++] = chain[i];
      }
    }
    remove(HybridPlan.WINDOW, Arrays.copyOf(dropped, size));
  }

  /** Makes the first block the most recently used. */
  private static void touch(EngineCache cache, int[] chain) {
    for (int i = chain.length - 1; i >= 0; i--) {
      cache.touch(chain[i]);
    }
  }

  private void storeMissing(int group, int[] chain, int from, int to) {
    int begin = from;
    while (begin < to) {
      int end = begin;
      while (end < to && !caches[group].holds(chain[end])) {
        end++;
      }
      if (end > begin) {
        store(group, chain, begin, end);
      }
      begin = Math.max(end, begin + 1);
    }
  }

  private void store(int group, int[] chain, int begin, int end) {
    remove(group, caches[group].makeRoom(end - begin));
    writer.stored(number, group, chain, begin, end);
    for (int i = begin; i < end; i++) {
      caches[group].add(chain[i]);
    }
  }

  private void remove(int group, int[] blocks) {
    if (blocks.length > 0) {
      writer.removed(number, group, blocks);
    }
  }
}
