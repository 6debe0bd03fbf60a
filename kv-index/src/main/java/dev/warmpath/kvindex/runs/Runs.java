package dev.warmpath.kvindex.runs;

import static dev.warmpath.kvindex.runs.RunHeaders.ALIAS;
import static dev.warmpath.kvindex.runs.RunHeaders.CHILDREN;
import static dev.warmpath.kvindex.runs.RunHeaders.HOLDERS;
import static dev.warmpath.kvindex.runs.RunHeaders.LINK;
import static dev.warmpath.kvindex.runs.RunHeaders.NAMES;
import static dev.warmpath.kvindex.runs.RunHeaders.PARENT;
import static dev.warmpath.kvindex.runs.RunHeaders.ROOT;
import static dev.warmpath.kvindex.runs.RunHeaders.SHAPE;
import static dev.warmpath.kvindex.runs.RunHeaders.SLABS;

import java.util.HashMap;
import java.util.Map;

/**
 * The tree of runs: which blocks follow which, under what hashes; and the arrays it is made of.
 *
 * <p>A place is a run and an offset in it, as {@code run · 256 + offset}.
 *
 * <p>Single writer; readers look at the same arrays meanwhile.
 */
public final class Runs {

  /** No such place. */
  public static final long NOWHERE = -1;

  /** A node with its boxed run and alias and its part of the map's table. */
  private static final long ALIAS_BYTES = 72;

  private static final int LAST_OF_SLAB = 1 << (SlabColumns.BLOCKS - 1);

  public final ByteBudget budget;
  public final RunHeaders headers;
  public final SlabColumns columns;
  public final HolderLists lists;
  public final ChildTable children;
  public final HashTable hashes;
  public final CopyTable copies;

  /** For each run that has aliases the first one. */
  private final Map<Integer, Integer> aliases = new HashMap<>();

  private volatile Roots roots = Roots.NONE;

  /**
   * @param seed secret, so that nobody can aim at one place of a hash table
   */
  public Runs(ByteBudget budget, long seed) {
    this.budget = budget;
    headers = new RunHeaders(budget);
    columns = new SlabColumns(budget);
    lists = new HolderLists(budget);
    children = new ChildTable(budget, seed);
    hashes = new HashTable(budget, columns, seed * 0x9E3779B97F4A7C15L);
    copies = new CopyTable(budget);
  }

  public Roots roots() {
    return roots;
  }

  public static long place(int run, int offset) {
    return ((long) run << 8) | offset;
  }

  public static int run(long place) {
    return (int) (place >>> 8);
  }

  public static int offset(long place) {
    return (int) place & 0xFF;
  }

  /** The place where all prompts of a space begin; there must be room. */
  public long root(long rootKey) {
    int run = roots.run(rootKey);
    if (run == 0) {
      run = headers.allocate();
      if (run == 0) {
        throw new IllegalStateException("no room was made for a root");
      }
      int[] h = headers.segment(run);
      int at = RunHeaders.at(run);
      h[at + SHAPE] = RunHeaders.shape(ROOT, 0);
      RunHeaders.end(h, at);
      roots = roots.with(rootKey, run);
    }
    return place(run, 0);
  }

  /** The run itself, or for an alias the run whose names it shares. */
  public int names(int run) {
    int[] h = headers.segment(run);
    int at = RunHeaders.at(run);
    return RunHeaders.kind(h[at + SHAPE]) == ALIAS ? h[at + PARENT] : run;
  }

  /** The place of the block before the first one of a run, or NOWHERE. */
  public long before(int run) {
    int[] h = headers.segment(run);
    int at = RunHeaders.at(run);
    int offset = RunHeaders.parentOffset(h[at + SHAPE]);
    return offset == 0 ? NOWHERE : place(h[at + PARENT], offset - 1);
  }

  /** The run is not the next to be forgotten. */
  public void touch(int run) {
    headers.segment(run)[RunHeaders.at(run) + RunHeaders.TOUCHED] = 1;
  }

  public int length(int run) {
    return RunHeaders.length(headers.segment(run)[RunHeaders.at(run) + SHAPE]);
  }

  public int kind(int run) {
    return RunHeaders.kind(headers.segment(run)[RunHeaders.at(run) + SHAPE]);
  }

  public int slab(int run, int offset) {
    return headers.segment(run)[RunHeaders.at(run) + SLABS + (offset >>> 3)];
  }

  /** The number of a block: slab · 8 + place in the slab. */
  public int block(int run, int offset) {
    return slab(run, offset) * SlabColumns.BLOCKS + (offset & 7);
  }

  public long localHash(int run, int offset) {
    int slab = slab(run, offset);
    return columns.locals(slab)[SlabColumns.at(slab) + (offset & 7)];
  }

  public long engineHash(int run, int offset) {
    int slab = slab(run, offset);
    return columns.hashes(slab)[SlabColumns.at(slab) + (offset & 7)];
  }

  /** Whether somebody holds the block under the engine hash that stands in this run. */
  public boolean isListed(int run, int offset) {
    int slab = slab(run, offset);
    return slab != 0 && ((columns.listed(slab) >>> (offset & 7)) & 1) != 0;
  }

  /** The place of a block. */
  public long placeOf(int block) {
    int slab = block >>> 3;
    int run = columns.owner(slab);
    int[] h = headers.segment(run);
    int at = RunHeaders.at(run) + SLABS;
    int ordinal = 0;
    while (h[at + ordinal] != slab) {
      ordinal++;
    }
    return place(run, ordinal * SlabColumns.BLOCKS + (block & 7));
  }

  /** The run that hangs at a place and begins with this local hash, or 0. */
  public int child(int parent, int offset, long localHash) {
    if (headers.segment(parent)[RunHeaders.at(parent) + CHILDREN] == 0) {
      return 0;
    }
    long key = children.key(parent, offset, localHash);
    long[] shard = children.shard(key);
    int at = ChildTable.first(key, shard);
    while (true) {
      int run = ChildTable.candidate(key, shard, at);
      if (run == 0 || (run > 0 && isChild(run, parent, offset) && localHash(run, 0) == localHash)) {
        return run;
      }
      at = ChildTable.next(at, shard);
    }
  }

  /** Writes the engine hash of a block; the slab must be there. */
  public void rename(int run, int offset, long engineHash) {
    int slab = slab(run, offset);
    columns.hashes(slab)[SlabColumns.at(slab) + (offset & 7)] = engineHash;
  }

  /** Forgets that these blocks of a run, one bit each, are listed. */
  public void unlist(int run, long blocks) {
    int[] h = headers.segment(run);
    int at = RunHeaders.at(run) + SLABS;
    long left = blocks;
    for (int i = 0; left != 0; i++, left >>>= SlabColumns.BLOCKS) {
      int here = (int) left & 0xFF;
      if ((here & LAST_OF_SLAB) != 0) {
        // Evictions go backwards: the others of this slab are next, now or in the next events.
        int from = SlabColumns.at(h[at + i]);
        hashes.prefetch(columns.hashes(h[at + i]), from, from + SlabColumns.BLOCKS);
      }
      if (here != 0) {
        hashes.remove(h[at + i], here);
      }
    }
  }

  /** The slab for the offset, a new one if there was none. */
  public int provide(int run, int offset) {
    int[] h = headers.segment(run);
    int at = RunHeaders.at(run) + SLABS + (offset >>> 3);
    if (h[at] == 0) {
      h[at] = columns.allocate(run);
      if (h[at] == 0) {
        throw new IllegalStateException("no room was made for run=" + run);
      }
    }
    return h[at];
  }

  /** A run below {@code parent} whose version is odd until the caller has filled it. */
  public int newChild(int parent, int offset) {
    return allocate(RunHeaders.shape(NAMES, offset), parent);
  }

  /** Makes a filled run known as the child of its parent; both versions are the caller's. */
  public void hang(int run) {
    int[] h = headers.segment(run);
    int at = RunHeaders.at(run);
    int parent = h[at + PARENT];
    int offset = RunHeaders.parentOffset(h[at + SHAPE]);
    int[] p = headers.segment(parent);
    int pat = RunHeaders.at(parent);
    RunHeaders.begin(p, pat);
    children.add(children.key(parent, offset, localHash(run, 0)), run);
    p[pat + CHILDREN]++;
    p[pat + LINK] = run;
    if (offset > RunHeaders.childBound(p[pat + SHAPE])) {
      p[pat + SHAPE] = RunHeaders.withChildBound(p[pat + SHAPE], offset);
    }
    RunHeaders.end(p, pat);
  }

  /** A run for other engine hashes of the names of {@code run}. */
  public int newAlias(int run) {
    int alias = allocate(RunHeaders.shape(ALIAS, 0), run);
    int[] a = headers.segment(alias);
    int aat = RunHeaders.at(alias);
    a[aat + LINK] = nextAlias(run);
    RunHeaders.end(a, aat);
    firstAlias(run, alias);
    return alias;
  }

  /** What all arrays take, counted from them. */
  public long bytes() {
    return headers.bytes()
        + columns.bytes()
        + lists.bytes()
        + children.bytes()
        + hashes.bytes()
        + copies.bytes()
        + aliases.size() * ALIAS_BYTES;
  }

  public int nextAlias(int run) {
    int[] h = headers.segment(run);
    int at = RunHeaders.at(run);
    if (RunHeaders.kind(h[at + SHAPE]) == ALIAS) {
      return h[at + LINK];
    }
    return (h[at + SHAPE] & RunHeaders.ALIASED) == 0 ? 0 : aliases.getOrDefault(run, 0);
  }

  /** Gives back the slabs of an alias that list nothing, and the alias with its last slab. */
  public void trimAlias(int alias) {
    int[] h = headers.segment(alias);
    int at = RunHeaders.at(alias);
    boolean empty = true;
    for (int i = at + SLABS; i < at + SLABS + 8; i++) {
      if (h[i] != 0 && columns.listed(h[i]) == 0) {
        columns.release(h[i]);
        h[i] = 0;
      }
      empty &= h[i] == 0;
    }
    if (empty) {
      unlinkAlias(alias, h[at + PARENT]);
      headers.release(alias);
    }
  }

  /** Sets the length and gives back the slabs beyond it. */
  public void shorten(int run, int length) {
    int[] h = headers.segment(run);
    int at = RunHeaders.at(run);
    h[at + SHAPE] = RunHeaders.withLength(h[at + SHAPE], length);
    // Backwards: what is released last is given out first, so the slabs of the next run lie in
    // order.
    for (int i = at + SLABS + 7; i >= at + SLABS + ((length + 7) >>> 3); i--) {
      if (h[i] != 0) {
        columns.release(h[i]);
        h[i] = 0;
      }
    }
  }

  public void lengthen(int run, int length) {
    int[] h = headers.segment(run);
    int at = RunHeaders.at(run);
    h[at + SHAPE] = RunHeaders.withLength(h[at + SHAPE], length);
  }

  /**
   * Takes a run without blocks out of the tree; its parents follow as far as nothing else needs
   * them.
   *
   * @param firstLocal the local hash that the run began with
   */
  public void drop(int run, long firstLocal) {
    int[] h = headers.segment(run);
    int at = RunHeaders.at(run);
    int parent = h[at + PARENT];
    int offset = RunHeaders.parentOffset(h[at + SHAPE]);
    headers.release(run);
    int[] p = headers.segment(parent);
    int pat = RunHeaders.at(parent);
    RunHeaders.begin(p, pat);
    children.remove(children.key(parent, offset, firstLocal), run);
    p[pat + CHILDREN]--;
    if (p[pat + CHILDREN] == 0) {
      p[pat + SHAPE] = RunHeaders.withChildBound(p[pat + SHAPE], 0);
    }
    RunHeaders.end(p, pat);
  }

  public void dropRoot(int run) {
    roots = roots.without(run);
    headers.release(run);
  }

  private int allocate(int shape, int parent) {
    int run = headers.allocate();
    if (run == 0) {
      throw new IllegalStateException("no room was made for a run below run=" + parent);
    }
    int[] h = headers.segment(run);
    int at = RunHeaders.at(run);
    h[at + PARENT] = parent;
    h[at + SHAPE] = shape;
    h[at + HOLDERS] = 0;
    return run;
  }

  private boolean isChild(int run, int parent, int offset) {
    int[] h = headers.segment(run);
    int at = RunHeaders.at(run);
    return h[at + PARENT] == parent
        && RunHeaders.kind(h[at + SHAPE]) == NAMES
        && RunHeaders.parentOffset(h[at + SHAPE]) == offset;
  }

  private void unlinkAlias(int alias, int run) {
    int before = run;
    while (nextAlias(before) != alias) {
      before = nextAlias(before);
    }
    if (before == run) {
      firstAlias(run, nextAlias(alias));
    } else {
      headers.segment(before)[RunHeaders.at(before) + LINK] = nextAlias(alias);
    }
  }

  private void firstAlias(int run, int alias) {
    int[] h = headers.segment(run);
    int at = RunHeaders.at(run) + SHAPE;
    if (alias == 0) {
      aliases.remove(run);
      budget.give(ALIAS_BYTES);
      h[at] &= ~RunHeaders.ALIASED;
    } else if (aliases.put(run, alias) == null) {
      budget.force(ALIAS_BYTES);
      h[at] |= RunHeaders.ALIASED;
    }
  }
}
