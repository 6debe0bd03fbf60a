package dev.warmpath.kvindex.plain;

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

  HeldBlock(long engineHash) {
    this.engineHash = engineHash;
  }

  boolean isNamed() {
    return naming == Naming.NAMED;
  }
}
