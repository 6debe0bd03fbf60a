package dev.warmpath.lab.index;

import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StoredBlocks;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Works out what an exact index answers to a corpus, with plain sets.
 *
 * <p>For workers with one group of full attention. Refuses a corpus on which counting copies and
 * counting presence could differ, or whose stores do not say what they store: a stored block that
 * is held already, a removed one that is not, a parent that is not held.
 *
 * <p>Confined to the thread that feeds it.
 */
final class CorpusModel implements CorpusSink {

  private final CorpusSink next;
  private final BlockNumbers numbers = new BlockNumbers();
  private final HeldBlocks held = new HeldBlocks();
  private final List<Map<Long, Integer>> numberOfHash = new ArrayList<>();
  private final List<int[]> chains = new ArrayList<>();
  private Sums interleaved = Sums.NONE;
  private long records;

  /** Passes all records on to {@code next}. */
  CorpusModel(CorpusSink next) {
    this.next = next;
  }

  @Override
  public void stored(int worker, StoredBlocks blocks) {
    Map<Long, Integer> names = names(worker);
    int parent = blocks.atRoot() ? BlockNumbers.ROOT : number(worker, blocks.parent(), "parent");
    for (int i = 0; i < blocks.count(); i++) {
      int number = numbers.number(parent, blocks.localHash(i));
      if (!held.add(worker, number) || names.put(blocks.engineHash(i), number) != null) {
        throw refusal(worker, "stores a block that it holds", blocks.engineHash(i));
      }
      parent = number;
    }
    records++;
    next.stored(worker, blocks);
  }

  @Override
  public void removed(int worker, RemovedBlocks blocks) {
    for (int i = 0; i < blocks.count(); i++) {
      long engineHash = blocks.engineHash(i);
      held.remove(worker, number(worker, engineHash, "removed block"));
      names(worker).remove(engineHash);
    }
    records++;
    next.removed(worker, blocks);
  }

  @Override
  public void cleared(int worker) {
    names(worker).values().forEach(number -> held.remove(worker, number));
    names(worker).clear();
    records++;
    next.cleared(worker);
  }

  @Override
  public void query(int worker, long[] localHashes, int count) {
    int[] chain = new int[count];
    int parent = BlockNumbers.ROOT;
    for (int i = 0; i < count; i++) {
      parent = numbers.number(parent, localHashes[i]);
      chain[i] = parent;
    }
    chains.add(chain);
    interleaved = interleaved.plus(Sums.of(held.depths(chain)));
    records++;
    next.query(worker, localHashes, count);
  }

  /** The answers to what was fed so far. */
  ExactAnswers answers() {
    Sums atEnd = Sums.NONE;
    for (int[] chain : chains) {
      atEnd = atEnd.plus(Sums.of(held.depths(chain)));
    }
    return new ExactAnswers(interleaved, atEnd, held.memberships());
  }

  private Map<Long, Integer> names(int worker) {
    while (numberOfHash.size() <= worker) {
      numberOfHash.add(new HashMap<>());
    }
    return numberOfHash.get(worker);
  }

  private int number(int worker, long engineHash, String role) {
    Integer number = names(worker).get(engineHash);
    if (number == null) {
      throw refusal(worker, "does not hold the " + role, engineHash);
    }
    return number;
  }

  private IllegalArgumentException refusal(int worker, String what, long engineHash) {
    return new IllegalArgumentException(
        "record %d: worker %d %s %016x".formatted(records, worker, what, engineHash));
  }

  /**
   * Which worker holds which block, as one set of workers for each block number.
   *
   * <p>The bookkeeping by which corpora know their exact answers; it knows nothing of hashes,
   * chains or indexes.
   *
   * <p>Single writer.
   */
  static final class HeldBlocks {

    private static final long[] NOBODY = {};

    private long[][] holders = new long[1024][];
    private int workers;
    private long memberships;

    /** The worker holds the block now; returns whether it did not before. */
    boolean add(int worker, int block) {
      workers = Math.max(workers, worker + 1);
      if (block >= holders.length) {
        holders = Arrays.copyOf(holders, Math.max(block + 1, 2 * holders.length));
      }
      long[] set = holders(block);
      if (set.length <= worker / Long.SIZE) {
        set = Arrays.copyOf(set, worker / Long.SIZE + 1);
        holders[block] = set;
      }
      long before = set[worker / Long.SIZE];
      set[worker / Long.SIZE] |= 1L << worker;
      boolean added = set[worker / Long.SIZE] != before;
      memberships += added ? 1 : 0;
      return added;
    }

    /** The worker does not hold the block any more; returns whether it did. */
    boolean remove(int worker, int block) {
      if (!holds(worker, block)) {
        return false;
      }
      long[] set = holders[block];
      set[worker / Long.SIZE] &= ~(1L << worker);
      if (Arrays.stream(set).allMatch(word -> word == 0)) {
        holders[block] = NOBODY;
      }
      memberships--;
      return true;
    }

    boolean holds(int worker, int block) {
      long[] set = holders(block);
      return worker / Long.SIZE < set.length && (set[worker / Long.SIZE] >>> worker & 1) != 0;
    }

    /** (worker, block) pairs. */
    long memberships() {
      return memberships;
    }

    /** For each worker, how many blocks of {@code chain} it holds from the first one on. */
    int[] depths(int[] chain) {
      int[] depths = new int[workers];
      long[] alive = new long[(workers + Long.SIZE - 1) / Long.SIZE];
      Arrays.fill(alive, -1);
      boolean more = true;
      for (int depth = 0; more; depth++) {
        more = narrow(alive, depth == chain.length ? NOBODY : holders(chain[depth]), depth, depths);
      }
      return depths;
    }

    /** Takes out of {@code alive} who is not in {@code set}; returns whether somebody is left. */
    private static boolean narrow(long[] alive, long[] set, int depth, int[] depths) {
      long left = 0;
      for (int word = 0; word < alive.length; word++) {
        long kept = word < set.length ? alive[word] & set[word] : 0;
        for (long out = alive[word] & ~kept; out != 0; out &= out - 1) {
          int worker = word * Long.SIZE + Long.numberOfTrailingZeros(out);
          if (worker < depths.length) {
            depths[worker] = depth;
          }
        }
        alive[word] = kept;
        left |= kept;
      }
      return left != 0;
    }

    private long[] holders(int block) {
      long[] set = block < holders.length ? holders[block] : null;
      return set == null ? NOBODY : set;
    }
  }

  /**
   * Numbers blocks by (number of the block before, local hash), so that equal numbers mean equal
   * prefixes.
   *
   * <p>Numbers count from 0 in order of first appearance.
   *
   * <p>Single writer.
   */
  static final class BlockNumbers {

    /** Stands before block 0. */
    static final int ROOT = -1;

    private int[] table = new int[1 << 16];
    private int[] parents = new int[1 << 15];
    private long[] locals = new long[1 << 15];
    private int size;

    /** The number of the block with {@code local} behind {@code parent}; a new one if need be. */
    int number(int parent, long local) {
      int at = slot(parent, local);
      if (table[at] != 0) {
        return table[at] - 1;
      }
      if (size == parents.length) {
        grow();
        at = slot(parent, local);
      }
      parents[size] = parent;
      locals[size] = local;
      table[at] = ++size;
      return size - 1;
    }

    private int slot(int parent, long local) {
      int mask = table.length - 1;
      int at = (int) (mix(parent, local) >>> 32) & mask;
      while (table[at] != 0) {
        int number = table[at] - 1;
        if (locals[number] == local && parents[number] == parent) {
          break;
        }
        at = at + 1 & mask;
      }
      return at;
    }

    private void grow() {
      parents = Arrays.copyOf(parents, 2 * size);
      locals = Arrays.copyOf(locals, 2 * size);
      table = new int[2 * table.length];
      for (int number = 0; number < size; number++) {
        table[slot(parents[number], locals[number])] = number + 1;
      }
    }

    private static long mix(int parent, long local) {
      long x = (local ^ (parent + 1L) * 0x9E3779B97F4A7C15L) * 0xD6E8FEB86659FD93L;
      return x ^ x << 32;
    }
  }
}
