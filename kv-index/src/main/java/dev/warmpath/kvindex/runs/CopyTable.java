package dev.warmpath.kvindex.runs;

import java.util.HashMap;
import java.util.Map;
import java.util.function.LongConsumer;

/**
 * Copies beyond the first: (shelf, block) → how many more of them the shelf holds, or −1 if not
 * even the first one was told of.
 *
 * <p>Single writer; no reader ever comes here.
 */
final class CopyTable {

  /** A node with its boxed key and its part of the map's table. */
  private static final long ENTRY_BYTES = 72;

  /** A map without entries, and its own entry. */
  private static final long SHELF_BYTES = 192;

  private final ByteBudget budget;

  /** A map for each shelf that has any, so that a shelf's are forgotten together. */
  private final Map<Integer, Map<Integer, Integer>> byShelf = new HashMap<>();

  private int entries;

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
    Map<Integer, Integer> counts = byShelf.isEmpty() ? null : byShelf.get(shelf);
    return counts == null ? 0 : counts.getOrDefault(block, 0);
  }

  /** Forgets all copies beyond the first. */
  public void forget(int shelf, int block) {
    set(shelf, block, 0);
  }

  /** Forgets all copies beyond the first on a shelf. */
  public void forget(int shelf) {
    Map<Integer, Integer> counts = byShelf.remove(shelf);
    if (counts != null) {
      entries -= counts.size();
      budget.give(SHELF_BYTES + ENTRY_BYTES * counts.size());
    }
  }

  /** What it takes, counted from its entries. */
  public long bytes() {
    return SHELF_BYTES * byShelf.size() + ENTRY_BYTES * entries;
  }

  public boolean isEmpty() {
    return byShelf.isEmpty();
  }

  /** Gives the key, shelf · 2³² + block, of each entry. */
  public void forEach(LongConsumer visitor) {
    byShelf.forEach(
        (shelf, counts) -> counts.keySet().forEach(block -> visitor.accept(key(shelf, block))));
  }

  private void set(int shelf, int block, int more) {
    if (more == 0) {
      remove(shelf, block);
      return;
    }
    Map<Integer, Integer> counts = byShelf.get(shelf);
    if (counts == null) {
      counts = new HashMap<>();
      byShelf.put(shelf, counts);
      budget.force(SHELF_BYTES);
    }
    if (counts.put(block, more) == null) {
      entries++;
      budget.force(ENTRY_BYTES);
    }
  }

  private void remove(int shelf, int block) {
    Map<Integer, Integer> counts = byShelf.isEmpty() ? null : byShelf.get(shelf);
    if (counts != null && counts.remove(block) != null) {
      entries--;
      budget.give(ENTRY_BYTES);
      if (counts.isEmpty()) {
        forget(shelf);
      }
    }
  }

  private static long key(int shelf, int block) {
    return ((long) shelf << 32) | (block & 0xFFFFFFFFL);
  }
}
