package dev.warmpath.lab.index;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.CacheGroup.Kind;
import dev.warmpath.simulator.engine.CacheListener;
import dev.warmpath.simulator.engine.CachedSequence;
import dev.warmpath.simulator.engine.KvCache;
import dev.warmpath.simulator.engine.KvCacheConfig;
import java.util.ArrayList;
import java.util.List;

/**
 * The model's cache serving one prompt after the other. There is no time and nothing is decoded.
 *
 * <p>A prompt is the names of its full blocks, and one token more, so that all of them can be
 * reused.
 *
 * <p>Single writer.
 */
public final class SerialEngine {

  /** Tokens a block. */
  public static final int BLOCK_TOKENS = 16;

  /** Blocks that one step computes at most. */
  static final int STEP_BLOCKS = 64;

  private final KvCache cache;

  /**
   * One with an empty cache.
   *
   * @param capacityBlocks full blocks that it holds, of all groups; a prompt has as many in each
   * @param events receives the changes of the cache
   */
  public SerialEngine(List<CacheGroup> groups, int capacityBlocks, CacheListener events) {
    int blocks = capacityBlocks + groups.size() + 1; // the last tokens of a prompt, the null block
    cache = new KvCache(new KvCacheConfig(BLOCK_TOKENS, blocks, groups), events);
  }

  /** A group of full attention. */
  public static List<CacheGroup> fullAttention() {
    return List.of(new CacheGroup(0, Kind.FULL_ATTENTION, BLOCK_TOKENS, 0));
  }

  /** A group of full attention and one that needs so many blocks at the end of a prefix. */
  public static List<CacheGroup> hybrid(int windowBlocks) {
    List<CacheGroup> groups = new ArrayList<>(fullAttention());
    groups.add(
        new CacheGroup(1, Kind.SLIDING_WINDOW, BLOCK_TOKENS, windowBlocks * BLOCK_TOKENS + 1));
    return groups;
  }

  /** Leading blocks of the prompt that it would reuse now. */
  public int reusable(long[] prompt) {
    return cache.find(sequence(prompt), tokens(prompt)).tokens() / BLOCK_TOKENS;
  }

  /** Reuses what it can of the prompt, computes the rest in steps, and lets it go. */
  public void serve(long[] prompt) {
    CachedSequence sequence = sequence(prompt);
    int tokens = tokens(prompt);
    KvCache.Hit hit = cache.find(sequence, tokens);
    int computed = hit.tokens();
    while (computed < tokens) {
      int end = Math.min(tokens, computed + STEP_BLOCKS * BLOCK_TOKENS);
      if (!cache.allocate(sequence, hit, computed, end)) {
        throw new IllegalArgumentException("blocks=" + prompt.length);
      }
      hit = cache.noHit();
      computed = end;
    }
    cache.release(sequence);
  }

  /** Blocks that it holds: pairs of a group and a name. */
  public int heldBlocks() {
    return cache.heldBlocks();
  }

  private static CachedSequence sequence(long[] prompt) {
    return new CachedSequence(block -> prompt[block], tokens(prompt));
  }

  private static int tokens(long[] prompt) {
    return prompt.length * BLOCK_TOKENS + 1;
  }
}
