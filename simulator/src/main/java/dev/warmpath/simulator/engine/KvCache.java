package dev.warmpath.simulator.engine;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.CacheGroup.Kind;
import dev.warmpath.simulator.engine.CachedSequence.BlockTable;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One engine's KV cache: finds the prefix that a request can reuse, gives blocks to requests,
 * commits full ones under their names and reports each change.
 *
 * <p>Behaves like vLLM's cache manager: only full blocks are committed, at the time they are
 * scheduled; a hit leaves at least the last prompt token to compute; copies are not merged; a freed
 * sequence loses its tail first.
 *
 * <p>With a host tier each committed block is copied there too. A lookup goes on there where the
 * GPU's blocks end; what it finds gets blocks of its own, which are committed when it is loaded.
 *
 * <p>Allocates nothing once its tables have grown: those of a sequence that ended serve the next.
 *
 * <p>Single writer.
 */
public final class KvCache {

  private final int blocks;
  private final int blockSizeTokens;
  private final CacheGroup[] groups;
  private final boolean sparse;
  private final CacheListener events;
  private final BlockPool pool;
  private final @Nullable HostCache host;
  private final @Nullable BlockStore store;
  private final Hit noHit;
  private final Hit hit;
  private final List<BlockTable[]> spareTables = new ArrayList<>();

  public KvCache(KvCacheConfig config, CacheListener events) {
    blocks = config.blocks();
    blockSizeTokens = config.blockSizeTokens();
    groups = config.groups().toArray(CacheGroup[]::new);
    sparse = config.sparse();
    this.events = events;
    pool = new BlockPool(blocks, groups.length, events);
    host = config.hostBlocks() == 0 ? null : new HostCache(groups[0], config.hostBlocks(), events);
    store = config.store();
    noHit = new Hit(newTables());
    hit = new Hit(newTables());
  }

  /** A prefix found in the cache: its blocks in each group. Valid until the next change or find. */
  public static final class Hit {
    private final BlockTable[] tables;
    private int blocks;
    private int tokens;
    private int hostTokens;

    private Hit(BlockTable[] tables) {
      this.tables = tables;
    }

    /** Length of the prefix, a multiple of the block size. */
    public int tokens() {
      return tokens;
    }

    /** Those of the tokens that come from host memory, behind all others. */
    public int hostTokens() {
      return hostTokens;
    }
  }

  /** Nothing found, or not looked for. */
  public Hit noHit() {
    return noHit;
  }

  /** The same with all that host memory holds. */
  public Hit find(CachedSequence sequence, int tokens) {
    return find(sequence, tokens, Integer.MAX_VALUE);
  }

  /**
   * The longest prefix on which all groups agree, short of the last one of the sequence's {@code
   * tokens}, and what host memory holds behind it, {@code mostHostTokens} at most.
   */
  public Hit find(CachedSequence sequence, int tokens, int mostHostTokens) {
    int limit;
    int most = Math.max(0, (tokens - 1) / blockSizeTokens);
    int agreed = most;
    sequence.sharedBlocks = 0;
    do {
      limit = agreed;
      for (int i = 0; i < groups.length; i++) {
        agreed = findOnGpu(sequence, i, agreed);
        sequence.sharedBlocks = Math.max(sequence.sharedBlocks, i == 0 ? agreed : 0);
      }
    } while (agreed < limit && groups.length > 1);
    hit.blocks = agreed;
    int last = agreed + Math.min(most - agreed, mostHostTokens / blockSizeTokens);
    int end = findOnHost(sequence, agreed, last);
    if (store != null) {
      end = Math.max(end, store.find(sequence, most)); // whatever a request says of loads
    }
    hit.hostTokens = (end - agreed) * blockSizeTokens;
    hit.tokens = agreed * blockSizeTokens + hit.hostTokens;
    return hit;
  }

  /**
   * Gives the sequence room for its first {@code tokens} tokens, of which {@code hit} is reused,
   * and commits the blocks that they fill. Does nothing and returns false if there is not enough
   * room.
   *
   * @param computedTokens tokens that need no prefill: what was computed before, or the hit
   */
  public boolean allocate(CachedSequence sequence, Hit hit, int computedTokens, int tokens) {
    dropPassed(sequence, computedTokens);
    int needed = blocksOf(tokens);
    if (missing(sequence, hit, needed) > pool.freeBlocks()) {
      return false;
    }
    if (sequence.holdsNothing()) {
      begin(sequence, hit);
    }
    for (int i = 0; i < groups.length; i++) {
      BlockTable table = sequence.tables[i];
      while (table.size() < needed) {
        table.add(pool.take());
      }
      commit(sequence, i, tokens / blockSizeTokens);
    }
    return true;
  }

  /**
   * Gives the sequence the blocks of {@code hit}, new ones for what has to be loaded. None of these
   * is committed before {@link #loaded}. Does nothing and returns false if there is not enough room
   * for all {@code tokens} tokens of the sequence, next to {@code reservedBlocks}.
   */
  public boolean allocateLoad(CachedSequence sequence, Hit hit, int tokens, int reservedBlocks) {
    if (missing(sequence, hit, blocksOf(tokens)) > pool.freeBlocks() - reservedBlocks) {
      return false;
    }
    begin(sequence, hit);
    BlockTable table = sequence.tables[0];
    while (table.size() < hit.tokens / blockSizeTokens) {
      table.add(pool.take());
    }
    return true;
  }

  /** Commits the blocks of the first {@code tokens} tokens, which have been loaded. */
  public void loaded(CachedSequence sequence, int tokens) {
    commit(sequence, 0, tokens / blockSizeTokens);
  }

  /** Blocks that a sequence still needs for its first {@code tokens} tokens. */
  public int lackingBlocks(CachedSequence sequence, int tokens) {
    int held = sequence.holdsNothing() ? 0 : sequence.tables[0].size();
    return Math.max(0, blocksOf(tokens) - held);
  }

  private int blocksOf(int tokens) {
    return (tokens + blockSizeTokens - 1) / blockSizeTokens;
  }

  /**
   * How many tokens a sequence that has computed {@code computedTokens} can add, one at a time,
   * before a block is filled, needed or left behind by a window.
   */
  public int untouchedTokens(CachedSequence sequence, int computedTokens) {
    int inBlock = computedTokens % blockSizeTokens;
    int tokens = inBlock == 0 ? 0 : blockSizeTokens - 1 - inBlock;
    for (int i = 0; i < groups.length; i++) {
      if (groups[i].kind() == Kind.SLIDING_WINDOW) {
        int nextDrop =
            (sequence.tables[i].passed + 1) * blockSizeTokens + groups[i].slidingWindowTokens() - 1;
        tokens = Math.min(tokens, Math.max(0, nextDrop - computedTokens));
      }
    }
    return tokens;
  }

  /** Takes all blocks back; committed ones stay cached until their room is needed. */
  public void release(CachedSequence sequence) {
    if (sequence.holdsNothing()) {
      return;
    }
    BlockTable[] tables = sequence.detach();
    for (BlockTable table : tables) {
      release(table, table.size());
      table.begin(0);
    }
    spareTables.add(tables);
  }

  /** Empties the cache and host memory if no request holds a block; says whether it did. */
  public boolean reset() {
    boolean done = pool.reset();
    if (done && host != null) {
      host.clear();
    }
    return done;
  }

  /** Share of blocks that requests hold, from 0 to 1; cached blocks that nobody uses are free. */
  public double usage() {
    return (double) pool.usedBlocks() / (blocks - 1);
  }

  /** Physical blocks that are committed under a name, copies included. */
  public int committedBlocks() {
    return pool.committedBlocks();
  }

  /** Blocks that host memory holds. */
  public int hostBlocks() {
    return host == null ? 0 : host.size();
  }

  /** Blocks that it holds: pairs of a group and a name, copies counted once. */
  public int heldBlocks() {
    return pool.committedNames();
  }

  /** Fails if the books do not balance. */
  public void checkInvariants() {
    pool.checkInvariants();
    if (host != null) {
      host.checkInvariants();
    }
  }

  /**
   * Where the tokens end that host memory holds from {@code fromTokens} on, short of the last one
   * of the sequence's {@code tokens}.
   */
  public int hostEndTokens(CachedSequence sequence, int fromTokens, int tokens) {
    int from = fromTokens / blockSizeTokens;
    int limit = Math.max(from, (tokens - 1) / blockSizeTokens);
    return findOnHost(sequence, from, limit) * blockSizeTokens;
  }

  /** Where the blocks end that host memory holds from {@code from} on. */
  private int findOnHost(CachedSequence sequence, int from, int limit) {
    if (host == null) {
      return from;
    }
    host.use(sequence, limit);
    return host.find(sequence, from, limit);
  }

  /** Finds up to {@code limit} blocks of one group; returns how many. */
  private int findOnGpu(CachedSequence sequence, int group, int limit) {
    return groups[group].kind() == Kind.FULL_ATTENTION
        ? findAll(sequence, group, limit)
        : findTail(sequence, group, limit);
  }

  private int findAll(CachedSequence sequence, int group, int limit) {
    return collect(sequence, group, 0, limit);
  }

  /** The rightmost run that covers the window, with null blocks before it. */
  private int findTail(CachedSequence sequence, int group, int limit) {
    int window = (groups[group].slidingWindowTokens() - 1 + blockSizeTokens - 1) / blockSizeTokens;
    int to = limit;
    int from = limit;
    while (from > 0 && (to - from < window || to == from)) {
      from--;
      if (pool.find(sequence.name(from), group) == BlockPool.NULL_BLOCK) {
        to = from;
      }
    }
    return collect(sequence, group, from, to);
  }

  /** Puts the blocks from {@code from} to {@code to} into the hit, as far as they are there. */
  private int collect(CachedSequence sequence, int group, int from, int to) {
    BlockTable found = hit.tables[group];
    found.begin(from);
    for (int i = from; i < to; i++) {
      int block = pool.find(sequence.name(i), group);
      if (block == BlockPool.NULL_BLOCK) {
        break;
      }
      found.add(block);
    }
    return found.size();
  }

  /** Gives back the blocks that a sliding window has left behind. */
  private void dropPassed(CachedSequence sequence, int computedTokens) {
    for (int i = 0; i < sequence.tables.length; i++) {
      if (groups[i].kind() == Kind.SLIDING_WINDOW) {
        BlockTable table = sequence.tables[i];
        int passed = (computedTokens - groups[i].slidingWindowTokens() + 1) / blockSizeTokens;
        int to = Math.min(passed, table.size());
        release(table, to);
        table.passed = Math.max(table.passed, to);
      }
    }
  }

  /** Takes one user from the blocks before {@code to}, the last one first. */
  private void release(BlockTable table, int to) {
    for (int i = to - 1; i >= table.passed; i--) {
      pool.release(table.block(i));
    }
  }

  /** Free blocks that the allocation takes: new ones, and hits that wait in the free queue. */
  private int missing(CachedSequence sequence, Hit hit, int needed) {
    int missing = 0;
    for (int i = 0; i < groups.length; i++) {
      int held = sequence.holdsNothing() ? hit.blocks : sequence.tables[i].size();
      missing += Math.max(0, needed - held);
      BlockTable reused = hit.tables[i];
      for (int at = reused.passed; at < hit.blocks; at++) {
        missing += pool.isFree(reused.block(at)) ? 1 : 0;
      }
    }
    return missing;
  }

  private void begin(CachedSequence sequence, Hit hit) {
    int spare = spareTables.size();
    sequence.tables = spare == 0 ? newTables() : spareTables.remove(spare - 1);
    for (int i = 0; i < groups.length; i++) {
      BlockTable table = sequence.tables[i];
      table.begin(hit.tables[i], hit.blocks);
      for (int at = table.passed; at < table.size(); at++) {
        pool.touch(table.block(at));
      }
    }
  }

  private void commit(CachedSequence sequence, int group, int to) {
    BlockTable table = sequence.tables[group];
    int from = table.committed;
    if (from >= to) {
      return;
    }
    table.committed = to;
    if (sparse && groups[group].kind() == Kind.SLIDING_WINDOW) {
      commitSparse(sequence, group, from, to);
    } else {
      commit(sequence, group, from, to, Math.max(from, table.passed));
    }
  }

  /** Commits the windows that end where the prompt ends and where what was shared ends. */
  private void commitSparse(CachedSequence sequence, int group, int from, int to) {
    int promptEnd = (sequence.promptTokens() - 1) / blockSizeTokens;
    int sharedEnd = sequence.sharedBlocks;
    int at = commitTail(sequence, group, from, to, Math.min(promptEnd, sharedEnd));
    at = commitTail(sequence, group, at, to, Math.max(promptEnd, sharedEnd));
    if (at < to) {
      commit(sequence, group, at, to, to);
    }
  }

  /** Commits the window before {@code end}, as far as it is in the range; returns where it ends. */
  private int commitTail(CachedSequence sequence, int group, int from, int to, int end) {
    int until = Math.min(end, to);
    if (from >= until) {
      return from;
    }
    commit(sequence, group, from, until, Math.max(from, end - windowBlocks(group)));
    return until;
  }

  private void commit(CachedSequence sequence, int group, int from, int to, int heldFrom) {
    int held = Math.min(to, heldFrom);
    BlockTable table = sequence.tables[group];
    for (int i = held; i < to; i++) {
      pool.commit(table.block(i), sequence.name(i), group);
    }
    events.stored(sequence, groups[group], from, to, held);
    if (host != null) {
      host.store(sequence, from, to);
    }
    if (store != null) {
      for (int block : store.store(sequence, from, to)) {
        events.storedInStore(sequence, groups[group], block);
      }
    }
  }

  private int windowBlocks(int group) {
    return (groups[group].slidingWindowTokens() - 1 + blockSizeTokens - 1) / blockSizeTokens;
  }

  private BlockTable[] newTables() {
    BlockTable[] tables = new BlockTable[groups.length];
    for (int i = 0; i < tables.length; i++) {
      tables[i] = new BlockTable();
    }
    return tables;
  }

  /**
   * Host memory behind one engine's KV cache: copies of blocks that were committed there, one of
   * each name. The copy that was not asked for the longest makes room.
   *
   * <p>Single writer.
   */
  private static final class HostCache {

    /* A block pool of which no block is ever in use: its queue of free blocks is the LRU order. */

    private final CacheGroup group;
    private final int blocks;
    private final CacheListener events;
    private final BlockPool pool;

    /** Room for {@code blocks} blocks of a group, at least one. */
    HostCache(CacheGroup group, int blocks, CacheListener events) {
      this.group = group;
      this.blocks = blocks;
      this.events = events;
      pool = new BlockPool(blocks + 1, 1, new Dropped(events));
    }

    /** Finds the sequence's blocks from {@code from} on, before {@code limit}; where they end. */
    int find(CachedSequence sequence, int from, int limit) {
      int end = from;
      while (end < limit && contains(sequence.name(end))) {
        end++;
      }
      return end;
    }

    /**
     * The sequence's first {@code count} blocks were asked for; its end is dropped before its
     * begin.
     */
    void use(CachedSequence sequence, int count) {
      for (int i = count - 1; i >= 0; i--) {
        int block = pool.find(sequence.name(i), group.index());
        if (block != BlockPool.NULL_BLOCK) {
          pool.touch(block);
          pool.release(block);
        }
      }
    }

    /**
     * Copies those of the blocks {@code [from, to)} that are not there, the first ones if not all
     * fit.
     */
    void store(CachedSequence sequence, int from, int to) {
      int end = Math.min(to, from + blocks);
      int run = from;
      for (int i = from; i < end; i++) {
        if (contains(sequence.name(i))) {
          stored(sequence, run, i);
          run = i + 1;
        } else {
          int block = pool.take();
          pool.commit(block, sequence.name(i), group.index());
          pool.release(block);
        }
      }
      stored(sequence, run, end);
    }

    void clear() {
      pool.reset();
    }

    /** Blocks that are held. */
    int size() {
      return pool.committedBlocks();
    }

    void checkInvariants() {
      pool.checkInvariants();
    }

    private boolean contains(long name) {
      return pool.find(name, group.index()) != BlockPool.NULL_BLOCK;
    }

    private void stored(CachedSequence sequence, int from, int to) {
      if (from < to) {
        events.storedOnHost(sequence, group, from, to);
      }
    }

    /** Reports what the pool drops. That it was cleared is not news: the cache says so. */
    private record Dropped(CacheListener events) implements CacheListener {
      @Override
      public void stored(
          CachedSequence sequence, CacheGroup group, int fromBlock, int toBlock, int heldFrom) {}

      @Override
      public void removed(int group, long blockName) {
        events.removedFromHost(group, blockName);
      }

      @Override
      public void cleared() {}
    }
  }
}
