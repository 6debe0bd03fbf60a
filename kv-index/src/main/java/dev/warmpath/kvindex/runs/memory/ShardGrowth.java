package dev.warmpath.kvindex.runs.memory;

import java.util.Arrays;

/**
 * Works out how much the shards of a table may grow at most, wherever the next entries go.
 *
 * <p>Single writer.
 */
final class ShardGrowth {

  /** A shard that doubles more than once for these entries takes less than that for each. */
  private static final int AGAIN_BYTES = 32;

  private static final int ADDED_SHIFT = 40;

  private final long[] shards;
  private int count;
  private int added;
  private long all;
  private long most;

  ShardGrowth(int shards) {
    this.shards = new long[shards];
  }

  ShardGrowth begin(int added) {
    this.added = added;
    count = 0;
    all = 0;
    most = 0;
    return this;
  }

  /** A shard that takes {@code bytes} more once it gets {@code needed} entries more. */
  void shard(int needed, long bytes) {
    if (needed <= added) {
      shards[count++] = ((long) needed << ADDED_SHIFT) | bytes;
      all += bytes;
      most = Math.max(most, bytes);
    }
  }

  /** At most this much, found at once: as if all shards grew that may. */
  long roughBytes() {
    return all + (long) AGAIN_BYTES * added;
  }

  /** No more shards grow than the entries suffice for. */
  long bytes() {
    Arrays.sort(shards, 0, count);
    int grown = 0;
    long left = added;
    while (grown < count && left >= shards[grown] >>> ADDED_SHIFT) {
      left -= shards[grown] >>> ADDED_SHIFT;
      grown++;
    }
    return Math.min(all, grown * most) + (long) AGAIN_BYTES * added;
  }
}
