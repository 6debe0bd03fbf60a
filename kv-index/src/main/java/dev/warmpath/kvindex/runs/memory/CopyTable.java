package dev.warmpath.kvindex.runs.memory;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;

/**
 * Copies beyond the first: (shelf, block) → how many more of them the shelf holds, or −1 if not
 * even the first one was told of.
 *
 * <p>Single writer; no reader ever comes here.
 */
public final class CopyTable {

  private static final long ENTRY_BYTES = 24;

  private final ByteBudget budget;
  private final LongMap<int[]> counts;

  public CopyTable(ByteBudget budget) {
    this.budget = budget;
    counts = new LongMap<>(budget);
  }

  /** Notes one more copy. */
  public void add(int shelf, int block) {
    add(shelf, block, 1);
  }

  /** Notes so many more copies. */
  public void add(int shelf, int block, int more) {
    int[] count = counts.get(key(shelf, block));
    if (count == null) {
      count = new int[1];
      counts.put(key(shelf, block), count);
      budget.force(ENTRY_BYTES);
    }
    count[0] += more;
    if (count[0] == 0) {
      forget(shelf, block);
    }
  }

  /** The block is there although nobody told of it: the next copy told of is none beyond it. */
  public void skipNextStore(int shelf, int block) {
    add(shelf, block, -1);
  }

  /** Takes one copy away; false when there is none beyond the first. */
  public boolean take(int shelf, int block) {
    if (counts.size() == 0) {
      return false;
    }
    int[] count = counts.get(key(shelf, block));
    if (count == null) {
      return false;
    }
    boolean isMore = count[0] > 0;
    if (!isMore || --count[0] == 0) {
      forget(shelf, block);
    }
    return isMore;
  }

  /** How many copies beyond the first there are, or −1 if the first one is owed. */
  public int more(int shelf, int block) {
    int[] count = counts.size() == 0 ? null : counts.get(key(shelf, block));
    return count == null ? 0 : count[0];
  }

  /** Forgets all copies beyond the first. */
  public void forget(int shelf, int block) {
    if (counts.size() > 0 && counts.remove(key(shelf, block)) != null) {
      budget.give(ENTRY_BYTES);
    }
  }

  /** Forgets all copies beyond the first on a shelf. */
  public void forget(int shelf) {
    if (counts.size() > 0) {
      List<Long> keys = new ArrayList<>();
      counts.forEachKey(key -> {
        if ((int) (key >>> 32) == shelf) {
          keys.add(key);
        }
      });
      keys.forEach(key -> forget(shelf, key.intValue()));
    }
  }

  /** What it takes, counted from its entries. */
  public long bytes() {
    return counts.bytes() + ENTRY_BYTES * counts.size();
  }

  /** Bytes that it may take if so many blocks get more copies. */
  public long growthBytes(int added) {
    return counts.growthBytes(added) + added * ENTRY_BYTES;
  }

  public boolean isEmpty() {
    return counts.size() == 0;
  }

  /** Gives the key, shelf · 2³² + block, of each entry. */
  public void forEach(LongConsumer visitor) {
    counts.forEachKey(visitor);
  }

  private static long key(int shelf, int block) {
    return ((long) shelf << 32) | (block & 0xFFFFFFFFL);
  }
}
