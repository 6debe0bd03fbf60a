package dev.warmpath.kvindex;

import java.util.Arrays;

/**
 * Consecutive blocks that one engine stored together, in columns; reused from event to event.
 *
 * <p>Named blocks carry local hashes and hang below a parent (or the root), so the index can derive
 * their keys. Blocks without names (offload placeholders, sparse stores of hybrid models) carry
 * engine hashes alone; they count once another store of the same engine names the same engine hash,
 * before or after.
 *
 * <p>Single writer.
 */
public final class StoredBlocks {

  private static final int KEPT = 1 << 13;

  private StorageTier tier = StorageTier.GPU;
  private int group;
  private boolean named;
  private boolean atRoot;
  private boolean addsCopies = true;
  private long parent;
  private int count;
  private long[] engineHashes = new long[64];
  private long[] localHashes = new long[64];

  /** Starts blocks without names. */
  public StoredBlocks unnamed(StorageTier tier, int group) {
    this.tier = tier;
    this.group = group;
    named = false;
    atRoot = false;
    addsCopies = true;
    parent = 0;
    count = 0;
    return this;
  }

  /**
   * Starts named blocks at the beginning of a prompt, below {@code rootKey} of the engine's space.
   */
  public StoredBlocks atRoot(StorageTier tier, int group, long rootKey) {
    unnamed(tier, group);
    named = true;
    atRoot = true;
    parent = rootKey;
    return this;
  }

  /** Starts named blocks behind the block with engine hash {@code parentEngineHash}. */
  public StoredBlocks behind(StorageTier tier, int group, long parentEngineHash) {
    unnamed(tier, group);
    named = true;
    parent = parentEngineHash;
    return this;
  }

  /**
   * The engine says again what it said before: what it holds already has no more copies, and no
   * more is confirmed by it.
   */
  public StoredBlocks ifAbsent() {
    addsCopies = false;
    return this;
  }

  /** Adds the next block; {@code localHash} is ignored for blocks without names. */
  public StoredBlocks add(long engineHash, long localHash) {
    if (count == engineHashes.length) {
      engineHashes = Arrays.copyOf(engineHashes, 2 * count);
      localHashes = Arrays.copyOf(localHashes, 2 * count);
    }
    engineHashes[count] = engineHash;
    localHashes[count] = localHash;
    count++;
    return this;
  }

  /**
   * Adds {@code added} blocks in bulk: their engine hashes from {@code hashes[from]} on and their
   * local hashes right behind.
   */
  public StoredBlocks addAll(long[] hashes, int from, int added) {
    if (count + added > engineHashes.length) {
      int room = Math.max(count + added, 2 * engineHashes.length);
      engineHashes = Arrays.copyOf(engineHashes, room);
      localHashes = Arrays.copyOf(localHashes, room);
    }
    System.arraycopy(hashes, from, engineHashes, count, added);
    System.arraycopy(hashes, from + added, localHashes, count, added);
    count += added;
    return this;
  }

  /** Holds nothing any more, and lets go of what usual events do not need. */
  public void trim() {
    count = 0;
    if (engineHashes.length > KEPT) {
      engineHashes = new long[KEPT];
      localHashes = new long[KEPT];
    }
  }

  public StorageTier tier() {
    return tier;
  }

  public int group() {
    return group;
  }

  /** Whether local hashes and the parent are given. */
  public boolean named() {
    return named;
  }

  /** Whether {@link #parent} is a root key rather than an engine hash. */
  public boolean atRoot() {
    return atRoot;
  }

  /** The root key or the parent's engine hash. */
  public long parent() {
    return parent;
  }

  /** Whether each block is a copy of its own, even if the engine holds it already. */
  public boolean addsCopies() {
    return addsCopies;
  }

  /** Whether the engine must hold all blocks before these, in a group of full attention. */
  public boolean confirms() {
    return named && !atRoot && addsCopies && tier == StorageTier.GPU;
  }

  public int count() {
    return count;
  }

  public long engineHash(int index) {
    return engineHashes[index];
  }

  public long localHash(int index) {
    return localHashes[index];
  }

  /** The engine hashes in place, for copying in bulk; valid up to {@link #count}. */
  public long[] engineHashes() {
    return engineHashes;
  }

  /** The local hashes in place, for copying in bulk; valid up to {@link #count}. */
  public long[] localHashes() {
    return localHashes;
  }
}
