package dev.warmpath.kvindex.runs;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The entries of a {@link HashTable} for which there is no slot near their home bucket: few.
 *
 * <p>Single writer.
 */
final class HashOverflow {

  record Entry(int home, int tag, int slab) {}

  /** A node with its boxed key, its array and its part of the map's table. */
  private static final long ENTRY_BYTES = 88;

  private static final int SHARD_SHIFT = 56;

  private final ByteBudget budget;
  private final Map<Long, int[]> slabs = new HashMap<>();
  private final int tagBits;
  private final int[] entries = new int[1 << (Long.SIZE - SHARD_SHIFT)];

  HashOverflow(ByteBudget budget, int tagBits) {
    this.budget = budget;
    this.tagBits = tagBits;
  }

  /** The slabs of the entries with this home and tag. */
  int @Nullable [] get(int shard, int home, int tag) {
    return slabs.get(key(shard, home, tag));
  }

  void add(int shard, int home, int tag, int slab) {
    long key = key(shard, home, tag);
    int[] before = slabs.get(key);
    int length = before == null ? 0 : before.length;
    int[] more = before == null ? new int[1] : Arrays.copyOf(before, length + 1);
    more[length] = slab;
    slabs.put(key, more);
    entries[shard]++;
    budget.force(ENTRY_BYTES);
  }

  void remove(int shard, int home, int tag, int slab) {
    long key = key(shard, home, tag);
    int[] before = slabs.get(key);
    int at = 0;
    while (before != null && at < before.length && before[at] != slab) {
      at++;
    }
    if (before == null || at == before.length) {
      throw new IllegalStateException("slab=" + slab + " is not listed in shard=" + shard);
    }
    before[at] = before[before.length - 1];
    if (before.length == 1) {
      slabs.remove(key);
    } else {
      slabs.put(key, Arrays.copyOf(before, before.length - 1));
    }
    entries[shard]--;
    budget.give(ENTRY_BYTES);
  }

  /** Takes all entries of a shard out. */
  List<Entry> takeAll(int shard) {
    if (entries[shard] == 0) {
      return List.of();
    }
    List<Entry> taken = new ArrayList<>();
    slabs.forEach((key, some) -> {
      if (key >>> SHARD_SHIFT == shard) {
        int home = (int) ((key >>> tagBits) & Integer.MAX_VALUE);
        int tag = key.intValue() & ((1 << tagBits) - 1);
        Arrays.stream(some).forEach(slab -> taken.add(new Entry(home, tag, slab)));
      }
    });
    slabs.keySet().removeIf(key -> key >>> SHARD_SHIFT == shard);
    budget.give(ENTRY_BYTES * taken.size());
    entries[shard] = 0;
    return taken;
  }

  /** What it takes, counted from its entries. */
  long bytes() {
    return ENTRY_BYTES * slabs.values().stream().mapToLong(some -> some.length).sum();
  }

  private long key(int shard, int home, int tag) {
    return ((long) shard << SHARD_SHIFT) | ((long) home << tagBits) | tag;
  }
}
