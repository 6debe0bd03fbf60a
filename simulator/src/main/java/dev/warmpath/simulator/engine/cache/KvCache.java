package dev.warmpath.simulator.engine.cache;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.CacheGroup.Kind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * One engine's KV cache: finds the prefix that a request can reuse, gives blocks to requests,
 * commits full ones under their names and reports each change.
 *
 * <p>Behaves like vLLM's cache manager: only full blocks are committed, at the time they are
 * scheduled; a hit leaves at least the last prompt token to compute; copies are not merged; a freed
 * sequence loses its tail first.
 *
 * <p>Single writer.
 */
public final class KvCache {

  private final KvCacheConfig config;
  private final CacheListener events;
  private final BlockPool pool;

  public KvCache(KvCacheConfig config, CacheListener events) {
    this.config = config;
    this.events = events;
    pool = new BlockPool(config.blocks(), events);
  }

  /** A prefix found in the cache: its blocks in each group. Valid until the next change. */
  public static final class Hit {
    private final int tokens;
    private final List<List<Block>> blocks;

    private Hit(int tokens, List<List<Block>> blocks) {
      this.tokens = tokens;
      this.blocks = blocks;
    }

    /** Length of the prefix, a multiple of the block size. */
    public int tokens() {
      return tokens;
    }
  }

  /** Nothing found, or not looked for. */
  public Hit noHit() {
    return new Hit(0, Collections.nCopies(config.groups().size(), List.of()));
  }

  /**
   * The longest prefix on which all groups agree, short of the last one of the sequence's {@code
   * tokens}.
   */
  public Hit find(CachedSequence sequence, int tokens) {
    int limit = Math.max(0, (tokens - 1) / config.blockSizeTokens());
    List<List<Block>> found = new ArrayList<>();
    int agreed = limit;
    do {
      limit = agreed;
      found.clear();
      for (CacheGroup group : config.groups()) {
        List<Block> blocks = find(sequence, group, agreed);
        agreed = blocks.size();
        found.add(blocks);
      }
    } while (agreed < limit && config.groups().size() > 1);
    return new Hit(agreed * config.blockSizeTokens(), found);
  }

  /**
   * Announces a hit again from the first block on, in every group, as if all its blocks were there:
   * what vLLM does for a request that asks for a full report, each time that it looks.
   */
  public void report(CachedSequence sequence, Hit hit) {
    int count = hit.tokens() / config.blockSizeTokens();
    if (count == 0) {
      return;
    }
    for (CacheGroup group : config.groups()) {
      events.reported(sequence, group, count);
    }
  }

  /**
   * Gives the sequence room for its first {@code tokens} tokens, of which {@code hit} is reused,
   * and commits the blocks that they fill. Does nothing and returns false if there is not enough
   * room.
   *
   * @param computedTokens tokens that need no work: what was computed before, or the hit
   */
  public boolean allocate(CachedSequence sequence, Hit hit, int computedTokens, int tokens) {
    sequence.attach(config.groups().size());
    dropPassed(sequence, computedTokens);
    int needed = (tokens + config.blockSizeTokens() - 1) / config.blockSizeTokens();
    if (missing(sequence, hit, needed) > pool.freeBlocks()) {
      return false;
    }
    for (CacheGroup group : config.groups()) {
      List<Block> held = sequence.blocks.get(group.index());
      List<Block> reused = hit.blocks.get(group.index());
      reused.forEach(pool::touch);
      held.addAll(reused);
      sequence.committedBlocks[group.index()] += reused.size();
    }
    for (CacheGroup group : config.groups()) {
      grow(sequence, group, needed);
      commit(sequence, group, tokens);
    }
    return true;
  }

  /**
   * How many tokens a sequence that has computed {@code computedTokens} can add, one at a time,
   * before a block is filled, needed or left behind by a window.
   */
  public int untouchedTokens(CachedSequence sequence, int computedTokens) {
    int size = config.blockSizeTokens();
    int inBlock = computedTokens % size;
    int tokens = inBlock == 0 ? 0 : size - 1 - inBlock;
    for (CacheGroup group : config.groups()) {
      if (group.kind() == Kind.SLIDING_WINDOW) {
        int nulls = nullBlocks(sequence.blocks.get(group.index()));
        int drop = (nulls + 1) * size + group.slidingWindowTokens() - 1;
        tokens = Math.min(tokens, Math.max(0, drop - computedTokens));
      }
    }
    return tokens;
  }

  private static int nullBlocks(List<Block> held) {
    int count = 0;
    while (count < held.size() && held.get(count).isNull()) {
      count++;
    }
    return count;
  }

  /** Takes all blocks back; committed ones stay cached until their room is needed. */
  public void release(CachedSequence sequence) {
    for (List<Block> held : sequence.blocks) {
      Collections.reverse(held);
      pool.release(held);
      held.clear();
    }
    Arrays.fill(sequence.committedBlocks, 0);
  }

  /** Empties the cache if no request holds a block; says whether it did. */
  public boolean reset() {
    return pool.reset();
  }

  /** Share of blocks that requests hold, from 0 to 1; cached blocks that nobody uses are free. */
  public double usage() {
    return (double) pool.usedBlocks() / (config.blocks() - 1);
  }

  /** Physical blocks that are committed under a name, copies included. */
  public int committedBlocks() {
    return pool.committedBlocks();
  }

  /** Fails if the books do not balance. */
  public void checkInvariants() {
    pool.checkInvariants();
  }

  private List<Block> find(CachedSequence sequence, CacheGroup group, int limit) {
    return group.kind() == Kind.FULL_ATTENTION
        ? findAll(sequence, group, limit)
        : findTail(sequence, group, limit);
  }

  private List<Block> findAll(CachedSequence sequence, CacheGroup group, int limit) {
    List<Block> found = new ArrayList<>();
    for (int i = 0; i < limit; i++) {
      Block block = pool.find(sequence.name(i), group.index());
      if (block == null) {
        break;
      }
      found.add(block);
    }
    return found;
  }

  /** The rightmost run that covers the window, with null blocks before it. */
  private List<Block> findTail(CachedSequence sequence, CacheGroup group, int limit) {
    int size = config.blockSizeTokens();
    int window = (group.slidingWindowTokens() - 1 + size - 1) / size;
    List<Block> found = new ArrayList<>(Collections.nCopies(limit, pool.nullBlock()));
    int run = 0;
    for (int i = limit - 1; i >= 0; i--) {
      Block block = pool.find(sequence.name(i), group.index());
      if (block == null) {
        run = 0;
      } else {
        found.set(i, block);
        run++;
      }
      if (run > 0 && run >= window) {
        return found.subList(0, i + run);
      }
    }
    return found.subList(0, run);
  }

  /** Replaces blocks that a sliding window has left behind by the null block. */
  private void dropPassed(CachedSequence sequence, int computedTokens) {
    for (CacheGroup group : config.groups()) {
      if (group.kind() != Kind.SLIDING_WINDOW) {
        continue;
      }
      List<Block> held = sequence.blocks.get(group.index());
      int passed = (computedTokens - group.slidingWindowTokens() + 1) / config.blockSizeTokens();
      List<Block> dropped = new ArrayList<>();
      for (int i = Math.min(passed, held.size()) - 1; i >= 0 && !held.get(i).isNull(); i--) {
        dropped.add(held.set(i, pool.nullBlock()));
      }
      pool.release(dropped);
    }
  }

  /** Free blocks that the allocation takes: new ones, and hits that wait in the free queue. */
  private int missing(CachedSequence sequence, Hit hit, int needed) {
    int missing = 0;
    for (int group = 0; group < hit.blocks.size(); group++) {
      List<Block> reused = hit.blocks.get(group);
      int held = sequence.blocks.get(group).size() + reused.size();
      missing += Math.max(0, needed - held);
      for (Block block : reused) {
        missing += block.references == 0 && !block.isNull() ? 1 : 0;
      }
    }
    return missing;
  }

  private void grow(CachedSequence sequence, CacheGroup group, int needed) {
    List<Block> held = sequence.blocks.get(group.index());
    while (held.size() < needed) {
      held.add(pool.take());
    }
  }

  private void commit(CachedSequence sequence, CacheGroup group, int tokens) {
    int from = sequence.committedBlocks[group.index()];
    int to = tokens / config.blockSizeTokens();
    if (from >= to) {
      return;
    }
    int heldFrom = to;
    for (int i = to - 1; i >= from && !held(sequence, group, i).isNull(); i--) {
      heldFrom = i;
    }
    for (int i = heldFrom; i < to; i++) {
      pool.commit(held(sequence, group, i), sequence.name(i), group.index());
    }
    sequence.committedBlocks[group.index()] = to;
    events.stored(sequence, group, from, to, heldFrom);
  }

  private static Block held(CachedSequence sequence, CacheGroup group, int block) {
    return sequence.blocks.get(group.index()).get(block);
  }
}
