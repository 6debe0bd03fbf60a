package dev.warmpath.simulator.engine.cache;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.CacheGroup.Kind;
import dev.warmpath.kvindex.block.ExtraKey;
import dev.warmpath.kvindex.block.PromptKeys;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * One engine's KV cache: finds the prefix that a request can reuse, gives blocks to requests,
 * commits full ones under their hashes and records the events of it.
 *
 * <p>Behaves like vLLM's cache manager: only full blocks are committed, at the time they are
 * scheduled; a hit leaves at least the last prompt token to compute; copies are not merged; a freed
 * sequence loses its tail first.
 *
 * <p>Single writer.
 */
public final class KvCache {

  private final KvCacheConfig config;
  private final BlockHashing hashing;
  private final List<CacheEvent> events = new ArrayList<>();
  private final BlockPool pool;

  public KvCache(KvCacheConfig config, BlockHashing hashing) {
    this.config = config;
    this.hashing = hashing;
    pool = new BlockPool(config.blocks(), events);
  }

  /** A request's tokens, holding no block yet. */
  public CachedSequence sequence(int[] prompt, PromptKeys keys) {
    return new CachedSequence(prompt, keys, config, hashing);
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

  /** The longest prefix on which all groups agree, short of the last token. */
  public Hit find(CachedSequence sequence) {
    int limit = Math.max(0, (sequence.length() - 1) / config.blockSizeTokens());
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
    List<BlockHash> hashes = new ArrayList<>(count);
    List<List<ExtraKey>> extraKeys = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      hashes.add(sequence.hash(i));
      extraKeys.add(sequence.keys().of(i));
    }
    for (CacheGroup group : config.groups()) {
      events.add(
          new CacheEvent.Stored(
              group,
              null,
              hashes,
              sequence.tokens(0, hit.tokens()),
              extraKeys,
              sequence.keys().loraName()));
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
      commit(sequence, group, Math.min(tokens, sequence.length()));
    }
    return true;
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

  /** The events since the last call. */
  public List<CacheEvent> takeEvents() {
    List<CacheEvent> taken = List.copyOf(events);
    events.clear();
    return taken;
  }

  /** Share of blocks that requests hold, from 0 to 1; cached blocks that nobody uses are free. */
  public double usage() {
    return (double) pool.usedBlocks() / (config.blocks() - 1);
  }

  /** Physical blocks that are committed under a hash, copies included. */
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
      Block block = pool.find(sequence.hash(i), group.index());
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
      Block block = pool.find(sequence.hash(i), group.index());
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
    int size = config.blockSizeTokens();
    int from = sequence.committedBlocks[group.index()];
    int to = tokens / size;
    if (from >= to) {
      return;
    }
    List<BlockHash> hashes = new ArrayList<>(to - from);
    List<List<ExtraKey>> extraKeys = new ArrayList<>(to - from);
    for (int i = from; i < to; i++) {
      Block block = sequence.blocks.get(group.index()).get(i);
      if (!block.isNull()) {
        pool.commit(block, sequence.hash(i), group.index());
        hashes.add(sequence.hash(i));
        extraKeys.add(sequence.keys().of(i));
      }
    }
    sequence.committedBlocks[group.index()] = to;
    BlockHash parent = from == 0 ? null : sequence.hash(from - 1);
    int[] tokenIds = sequence.tokens(from * size, to * size);
    events.add(
        new CacheEvent.Stored(
            group, parent, hashes, tokenIds, extraKeys, sequence.keys().loraName()));
  }
}
