package dev.warmpath.kvindex;

import java.util.Arrays;

/**
 * Blocks of which one engine dropped a copy each, in the order in which it said so; reused from
 * event to event.
 *
 * <p>Engines evict a prompt from its end, so a hash is usually followed by that of the block before
 * it. An index may use that; no order is required.
 *
 * <p>Single writer.
 */
public final class RemovedBlocks {

  private static final int KEPT = 1 << 13;

  private StorageTier tier = StorageTier.GPU;
  private int group;
  private int count;
  private long[] engineHashes = new long[64];

  /** Starts anew. */
  public RemovedBlocks from(StorageTier tier, int group) {
    this.tier = tier;
    this.group = group;
    count = 0;
    return this;
  }

  /** Adds the next block. */
  public RemovedBlocks add(long engineHash) {
    if (count == engineHashes.length) {
      engineHashes = Arrays.copyOf(engineHashes, 2 * count);
    }
    engineHashes[count++] = engineHash;
    return this;
  }

  /** Adds {@code added} blocks in bulk, from {@code hashes[from]} on. */
  public RemovedBlocks addAll(long[] hashes, int from, int added) {
    if (count + added > engineHashes.length) {
      engineHashes = Arrays.copyOf(engineHashes, Math.max(count + added, 2 * engineHashes.length));
    }
    System.arraycopy(hashes, from, engineHashes, count, added);
    count += added;
    return this;
  }

  /** Holds nothing any more, and lets go of what usual events do not need. */
  public void trim() {
    count = 0;
    if (engineHashes.length > KEPT) {
      engineHashes = new long[KEPT];
    }
  }

  public StorageTier tier() {
    return tier;
  }

  public int group() {
    return group;
  }

  public int count() {
    return count;
  }

  public long engineHash(int index) {
    return engineHashes[index];
  }

  /** The engine hashes in place, for copying in bulk; valid up to {@link #count}. */
  public long[] engineHashes() {
    return engineHashes;
  }
}
