package dev.warmpath.kvindex.runs;

import static dev.warmpath.kvindex.runs.HolderLists.INTS;
import static dev.warmpath.kvindex.runs.HolderLists.SHELF;
import static dev.warmpath.kvindex.runs.RunHeaders.CHILDREN;
import static dev.warmpath.kvindex.runs.RunHeaders.HOLDERS;
import static dev.warmpath.kvindex.runs.RunHeaders.HOLDER_COUNT;
import static dev.warmpath.kvindex.runs.RunHeaders.LINK;
import static dev.warmpath.kvindex.runs.RunHeaders.NAMES;
import static dev.warmpath.kvindex.runs.RunHeaders.PARENT;
import static dev.warmpath.kvindex.runs.RunHeaders.SHAPE;
import static dev.warmpath.kvindex.runs.RunHeaders.SLABS;
import static dev.warmpath.kvindex.runs.RunHeaders.TOUCHED;

import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.block.BlockChain;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * Walks prompts down the tree while the writer changes it.
 *
 * <p>Thread-safe; each thread keeps its notes in a {@link Walk} of its own.
 */
final class PathReader {

  private static final ThreadLocal<Walk> WALKS = ThreadLocal.withInitial(Walk::new);

  /*
   * The walk notes the version of each run before it looks at it. When it is over, all versions
   * (and the fleet) must still be the same: then everything that was read was true at the moment
   * between the last read and the first check, all at once. Otherwise the walk is void and begins
   * again. What is read in a void walk may be nonsense, so nothing of it leaves this class, loops
   * are bounded by the prompt and by the arrays, and an index out of bounds voids it too.
   *
   *   writer   version odd · StoreStore · changes · release version even
   *   reader   acquire version, must be even · reads · acquire fence · version again
   */

  private final Runs runs;
  private volatile ReadView fleet = ReadView.EMPTY;

  public PathReader(Runs runs) {
    this.runs = runs;
  }

  public ReadView fleet() {
    return fleet;
  }

  /** Prompts are judged by this one from now on. */
  public void fleet(ReadView fleet) {
    this.fleet = fleet;
  }

  /** Fills {@code matches}; false if the writer interfered and nothing was filled. */
  public boolean read(BlockChain prompt, PrefixMatches matches) {
    ReadView fleet = this.fleet;
    if (fleet.slots() == 0) { // where the tree may just be read from a snapshot
      matches.begin(0);
      return true;
    }
    Walk walk = WALKS.get();
    walk.begin(prompt, fleet, matches);
    boolean read;
    try {
      read = walk(prompt, walk) && isUnchanged(walk, fleet);
    } catch (IndexOutOfBoundsException e) {
      // Half-written references point anywhere; after a void walk that is no error.
      read = false;
    }
    if (read) {
      walk.fill(prompt);
    }
    walk.end();
    return read;
  }

  /** For each slot how many blocks no other engine holds; runs that are changing are left out. */
  public long[] soleBlocks() {
    ReadView fleet = this.fleet;
    long[] sole = new long[fleet.slots()];
    long[] held = new long[fleet.slots()];
    int[] holders = new int[fleet.slots()];
    for (int run = 1; sole.length > 0 && run < runs.headers.bound(); run++) {
      int count = 0;
      try {
        int[] h = runs.headers.segment(run);
        int at = RunHeaders.at(run);
        int version = RunHeaders.version(h, at);
        count = hold(h, at, fleet, held, holders);
        VarHandle.acquireFence();
        if ((version & 1) == 0 && RunHeaders.unchanged(h, at, version)) {
          addSole(sole, held, holders, count);
        }
      } catch (IndexOutOfBoundsException e) {
        Arrays.fill(held, 0); // half-written references point anywhere
      }
      for (int i = 0; i < count; i++) {
        held[holders[i]] = 0;
      }
    }
    return sole;
  }

  /** Notes which blocks of a run each slot holds; returns how many slots hold any. */
  private int hold(int[] h, int at, ReadView fleet, long[] held, int[] holders) {
    if (RunHeaders.kind(h[at + SHAPE]) != NAMES) {
      return 0;
    }
    int entries = h[at + HOLDER_COUNT] & Holdings.COUNT;
    int list = h[at + HOLDERS];
    int[] all = runs.lists.segment(list);
    int count = 0;
    for (int i = 0, e = HolderLists.at(list); i < entries; i++, e += INTS) {
      if (fleet.counts(all[e + SHELF])) {
        int slot = fleet.slot(all[e + SHELF]);
        long mask = HolderLists.mask(all, e);
        if (held[slot] == 0 && mask != 0) {
          holders[count++] = slot;
        }
        held[slot] |= mask;
      }
    }
    return count;
  }

  private static void addSole(long[] sole, long[] held, int[] holders, int count) {
    long once = 0;
    long again = 0;
    for (int i = 0; i < count; i++) {
      again |= once & held[holders[i]];
      once |= held[holders[i]];
    }
    for (int i = 0; i < count; i++) {
      sole[holders[i]] += Long.bitCount(held[holders[i]] & ~again);
    }
  }

  private boolean walk(BlockChain prompt, Walk walk) {
    Roots roots = runs.roots();
    int run = roots.run(prompt.space().rootKey());
    int offset = 0;
    int matched = 0;
    // A root that was given up may be another space's by the time its version is noted.
    if (run == 0 || !see(walk, run) || roots != runs.roots()) {
      return run == 0;
    }
    while (matched < prompt.blocks()) {
      int child = child(walk, run, offset, prompt.localHash(matched));
      if (child <= 0) {
        return child == 0;
      }
      int[] h = runs.headers.segment(child);
      int at = RunHeaders.at(child);
      int common = common(h, at, prompt, walk, matched);
      if (h[at + TOUCHED] == 0) {
        h[at + TOUCHED] = 1;
      }
      boolean further = meet(h, at, walk, matched, common);
      matched += common;
      if (!further && walk.byDepth) {
        return true;
      }
      run = child;
      offset = common;
    }
    return true;
  }

  /** Notes the version of a run; false if it is just being changed. */
  private boolean see(Walk walk, int run) {
    int version = RunHeaders.version(runs.headers.segment(run), RunHeaders.at(run));
    walk.see(run, version);
    return (version & 1) == 0;
  }

  /**
   * Takes the last run seen back, for it was not the one looked for; false if that may be so only
   * because it was being changed.
   */
  private boolean unsee(Walk walk) {
    int last = walk.seen() - 1;
    int run = walk.seenRun(last);
    VarHandle.acquireFence();
    boolean unchanged =
        RunHeaders.unchanged(runs.headers.segment(run), RunHeaders.at(run), walk.seenVersion(last));
    walk.unsee();
    return unchanged;
  }

  private boolean isUnchanged(Walk walk, ReadView fleet) {
    VarHandle.acquireFence();
    for (int i = 0; i < walk.seen(); i++) {
      int run = walk.seenRun(i);
      if (!RunHeaders.unchanged(
          runs.headers.segment(run), RunHeaders.at(run), walk.seenVersion(i))) {
        return false;
      }
    }
    return fleet == this.fleet;
  }

  /** The run that goes on with this local hash, 0 when there is none, −1 when one is changing. */
  private int child(Walk walk, int parent, int offset, long localHash) {
    int[] h = runs.headers.segment(parent);
    int at = RunHeaders.at(parent);
    if (h[at + CHILDREN] == 0) {
      return 0;
    }
    int newest = offset < RunHeaders.MAX_BLOCKS ? 0 : h[at + LINK];
    if (newest != 0) {
      // Where a run is full most prompts go the way that was stored last.
      int seen = visit(walk, newest, parent, offset, localHash);
      if (seen != 0) {
        return seen;
      }
    }
    return listedChild(walk, parent, offset, localHash);
  }

  private int listedChild(Walk walk, int parent, int offset, long localHash) {
    long key = runs.children.key(parent, offset, localHash);
    long[] shard = runs.children.shard(key);
    int place = ChildTable.first(key, shard);
    for (int probes = 0; probes < shard.length; probes++) {
      int candidate = ChildTable.candidate(key, shard, place);
      if (candidate == 0) {
        return 0;
      }
      int seen = candidate < 0 ? 0 : visit(walk, candidate, parent, offset, localHash);
      if (seen != 0) {
        return seen;
      }
      place = ChildTable.next(place, shard);
    }
    return -1;
  }

  /** The run if it is the one looked for, 0 if it is another, −1 if it is changing. */
  private int visit(Walk walk, int run, int parent, int offset, long localHash) {
    if (!see(walk, run)) {
      return -1;
    }
    if (isChild(run, parent, offset, localHash)) {
      return run;
    }
    return unsee(walk) ? 0 : -1;
  }

  private boolean isChild(int run, int parent, int offset, long localHash) {
    int[] h = runs.headers.segment(run);
    int at = RunHeaders.at(run);
    int shape = h[at + SHAPE];
    return h[at + PARENT] == parent
        && RunHeaders.parentOffset(shape) == offset
        && RunHeaders.kind(shape) == NAMES
        && runs.columns.locals(h[at + SLABS])[SlabColumns.at(h[at + SLABS])] == localHash;
  }

  /** How many blocks the run and the rest of the prompt have in common. */
  private int common(int[] h, int at, BlockChain prompt, Walk walk, int matched) {
    int most = Math.min(RunHeaders.length(h[at + SHAPE]), prompt.blocks() - matched);
    walk.sink = prefetch(h, at, most);
    int common = 0;
    while (common < most) {
      int slab = h[at + SLABS + (common >>> 3)];
      int length =
          Math.min(most - common, inOnePiece(h, at + SLABS + (common >>> 3), most - common));
      int same =
          prompt.same(matched + common, runs.columns.locals(slab), SlabColumns.at(slab), length);
      common += same;
      if (same < length) {
        return common;
      }
    }
    return common;
  }

  /**
   * For how many blocks the slabs from {@code first} on lie in one piece, if {@code most} count.
   */
  private static int inOnePiece(int[] h, int first, int most) {
    int blocks = SlabColumns.BLOCKS;
    while (blocks < most && SlabColumns.isNext(h[first], h[first + 1])) {
      first++;
      blocks += SlabColumns.BLOCKS;
    }
    return blocks;
  }

  /** Looks at what comes next, all at once, so that nothing is waited for while it compares. */
  private long prefetch(int[] h, int at, int blocks) {
    long seen = 0;
    for (int i = 1; i << 3 < blocks; i++) {
      int slab = h[at + SLABS + i];
      seen += runs.columns.locals(slab)[SlabColumns.at(slab)];
    }
    if (blocks == RunHeaders.MAX_BLOCKS) {
      int newest = h[at + LINK];
      seen += runs.headers.segment(newest)[RunHeaders.at(newest)];
    }
    int list = h[at + HOLDERS];
    return seen + runs.lists.segment(list)[HolderLists.at(list)];
  }

  /** Notes what each holder has of these blocks; whether somebody has all so far. */
  private boolean meet(int[] h, int at, Walk walk, int matched, int common) {
    int count = h[at + HOLDER_COUNT] & Holdings.COUNT;
    int list = h[at + HOLDERS];
    int[] entries = runs.lists.segment(list);
    int e = HolderLists.at(list);
    long here = -1L >>> (Long.SIZE - common);
    boolean mixed = (h[at + SHAPE] & RunHeaders.MIXED) != 0;
    ReadView fleet = walk.fleet();
    PrefixMatches matches = walk.matches();
    boolean further = false;
    for (int i = 0; i < count; i++, e += INTS) {
      int shelf = entries[e + SHELF];
      long mask = mixed ? joined(entries, list, count, shelf) : HolderLists.mask(entries, e);
      if (walk.byDepth) {
        int more = Long.numberOfTrailingZeros(~(mask & here));
        further |=
            fleet.counts(shelf)
                && matches.deepen(fleet.slot(shelf), matched, more)
                && more == common;
      } else {
        walk.mark(shelf, mask & here, matched);
      }
    }
    return further;
  }

  private static long joined(int[] entries, int list, int count, int shelf) {
    long mask = 0;
    for (int i = 0, e = HolderLists.at(list); i < count; i++, e += INTS) {
      if (entries[e + SHELF] == shelf) {
        mask |= HolderLists.mask(entries, e);
      }
    }
    return mask;
  }
}
