package dev.warmpath.kvindex.runs.memory;

import java.util.HashMap;
import java.util.Map;
import java.util.function.LongConsumer;

/**
 * Copies beyond the first: (shelf, block) → how many more of them the shelf holds, or −1 if not
 * even the first one was told of.
 *
 * <p>Single writer; no reader ever comes here.
 */
public final class CopyTable {

  /** A node with its boxed key and its part of the map's table. */
  private static final long ENTRY_BYTES = 72;

  private final ByteBudget budget;
  private final Map<Long, Integer> counts = new HashMap<>();

  public CopyTable(ByteBudget budget) {
    this.budget = budget;
  }

  /** Notes one more copy. */
  public void add(int shelf, int block) {
    add(shelf, block, 1);
  }

  /** Notes so many more copies. */
  public void add(int shelf, int block, int more) {
    set(shelf, block, more(shelf, block) + more);
  }

  /** The block is there although nobody told of it: the next copy told of is none beyond it. */
  public void skipNextStore(int shelf, int block) {
    add(shelf, block, -1);
  }

  /** Takes one copy away; false when there is none beyond the first. */
  public boolean take(int shelf, int block) {
    int more = more(shelf, block);
    if (more != 0) {
      set(shelf, block, Math.max(0, more - 1));
    }
    return more > 0;
  }

  /** How many copies beyond the first there are, or −1 if the first one is owed. */
  public int more(int shelf, int block) {
    return counts.isEmpty() ? 0 : counts.getOrDefault(key(shelf, block), 0);
  }

  /** Forgets all copies beyond the first. */
  public void forget(int shelf, int block) {
    set(shelf, block, 0);
  }

  /** Forgets all copies beyond the first on a shelf. */
  public void forget(int shelf) {
    int before = counts.size();
    counts.keySet().removeIf(key -> (int) (key >>> 32) == shelf);
    budget.give(ENTRY_BYTES * (before - counts.size()));
  }

  /** What it takes, counted from its entries. */
  public long bytes() {
    return ENTRY_BYTES * counts.size();
  }

  public boolean isEmpty() {
    return counts.isEmpty();
  }

  /** Gives the key, shelf · 2³² + block, of each entry. */
  public void forEach(LongConsumer visitor) {
    counts.keySet().forEach(visitor::accept);
  }

  private void set(int shelf, int block, int more) {
    if (more == 0) {
      if (!counts.isEmpty() && counts.remove(key(shelf, block)) != null) {
        budget.give(ENTRY_BYTES);
      }
    } else if (counts.put(key(shelf, block), more) == null) {
      budget.force(ENTRY_BYTES);
    }
  }

  private static long key(int shelf, int block) {
    return ((long) shelf << 32) | (block & 0xFFFFFFFFL);
  }
}
