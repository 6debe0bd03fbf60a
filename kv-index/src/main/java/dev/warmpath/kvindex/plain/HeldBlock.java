package dev.warmpath.kvindex.plain;

import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One engine hash that an engine holds on at least one shelf, and what is known of its name.
 *
 * <p>Single writer, many readers, under the lock of the index.
 */
final class HeldBlock {

  /** How far the block's name is known. */
  enum Naming {
    /** Nobody has said what the block is. */
    UNNAMED,
    /** The claim is known, its parent's key is not. */
    ORPHAN,
    /** The block key is known. */
    NAMED,
    /** Two stores disagreed about this block or one before it: it has no name while it is held. */
    DOUBTFUL
  }

  /**
   * What a named store says of a block.
   *
   * @param atRoot whether {@code parent} is a root key rather than an engine hash
   */
  record Claim(boolean atRoot, long parent, long localHash) {}

  final long engineHash;
  final Tally copies = new Tally();
  Naming naming = Naming.UNNAMED;
  @Nullable Claim claim;
  long blockKey;
  long parentKey;

  /** The shelves on which it may still be. */
  Set<Integer> doubts = Set.of();

  /** The shelves on which it was seen although no store of it was heard since it was doubted. */
  Set<Integer> unannounced = Set.of();

  HeldBlock(long engineHash) {
    this.engineHash = engineHash;
  }

  /** From now on none of its copies is sure; returns on how many shelves it was. */
  int doubt() {
    int held = copies.size();
    doubts = new HashSet<>(doubts);
    while (copies.size() > 0) {
      doubts.add(copies.shelf(0));
      copies.drop(copies.shelf(0));
    }
    unannounced = Set.of();
    return held;
  }

  /** It may be on the shelf; whether that is news. */
  boolean mayBeOn(int shelf) {
    if (copies.count(shelf) > 0) {
      return false;
    }
    doubts = new HashSet<>(doubts);
    return doubts.add(shelf);
  }

  /** Whether it was doubted on the shelf; it is no more. */
  boolean settle(int shelf) {
    return !doubts.isEmpty() && doubts.remove(shelf);
  }

  /** It was seen on the shelf, but the store by which it came there may not be heard yet. */
  void unannounced(int shelf) {
    unannounced = new HashSet<>(unannounced);
    unannounced.add(shelf);
  }

  /** Whether a store is the first one since it was seen on the shelf. */
  boolean announced(int shelf) {
    return !unannounced.isEmpty() && unannounced.remove(shelf);
  }

  boolean isKnown() {
    return copies.size() > 0 || !doubts.isEmpty();
  }

  boolean isNamed() {
    return naming == Naming.NAMED;
  }
}
