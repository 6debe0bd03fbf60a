package dev.warmpath.kvindex.plain;

import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The table of all engines: block key → the shelves that hold a block of this name.
 *
 * <p>A shelf is one engine's storage for one (tier, group), known here by a small dense id. It is
 * counted once for each of the engine's hashes that are tied to the key.
 *
 * <p>Single writer, many readers, under the lock of the index.
 */
final class HolderTable {

  private final Map<Long, Tally> holders = new HashMap<>();
  private final BitSet openShelves = new BitSet();

  /** Takes a free shelf id. */
  int openShelf() {
    int shelf = openShelves.nextClearBit(0);
    openShelves.set(shelf);
    return shelf;
  }

  /** Frees the id of a shelf that holds nothing any more. */
  void closeShelf(int shelf) {
    openShelves.clear(shelf);
  }

  /** All shelf ids are below this. */
  int shelfBound() {
    return openShelves.length();
  }

  void put(long blockKey, int shelf) {
    holders.computeIfAbsent(blockKey, key -> new Tally()).add(shelf);
  }

  void drop(long blockKey, int shelf) {
    Tally tally = holders.get(blockKey);
    if (tally == null || tally.take(shelf) < 0) {
      throw new IllegalStateException("blockKey=" + blockKey + " is not on shelf=" + shelf);
    }
    if (tally.size() == 0) {
      holders.remove(blockKey);
    }
  }

  /** The shelves that hold this block, or null when there is none. */
  @Nullable Tally holders(long blockKey) {
    return holders.get(blockKey);
  }

  /** Number of (block key, shelf) pairs, counted as often as they were put. */
  long total() {
    return holders.values().stream().mapToLong(Tally::total).sum();
  }
}
