package dev.warmpath.kvindex.model;

import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.StorageTier;

/**
 * One call to an index. Blocks are places in a small tree of prompts, engines are positions among
 * those alive.
 *
 * <p>Immutable.
 */
public sealed interface Operation {

  /** A new engine arrives, with a layout. */
  record Add(CopyCounting counting, CacheLayout layout) implements Operation {}

  /** An engine leaves. */
  record Remove(int engine) implements Operation {}

  /** An engine's layout becomes known better. */
  record Layout(int engine, CacheLayout layout) implements Operation {}

  /** An engine stores blocks {@code from … from + count − 1} of a path. */
  record Store(int engine, Place place, Path path, int count, How how) implements Operation {}

  /** An engine drops one copy of the block at {@code path}. */
  record Drop(int engine, Place place, Path path) implements Operation {}

  /** An engine's cache is reset. */
  record Clear(int engine) implements Operation {}

  /** Events of an engine may have been lost. */
  record Suspend(int engine) implements Operation {}

  /** An engine is seen to reuse the first blocks of a prompt. */
  record Confirm(int engine, Place place, int prompt, int blocks) implements Operation {}

  /** The names of blocks {@code from … from + count − 1} of a path are computed. */
  record Compute(int engine, Place place, Path path, int count) implements Operation {}

  /** An engine stores blocks of a path, and tells the hashes that another one has for them. */
  record Join(int engine, int namer, Place place, Path path, int count) implements Operation {}

  /** How blocks are stored. */
  enum How {
    NAMED,
    UNNAMED,
    /** With their names, and only because the engine says again what it said before. */
    AGAIN
  }

  /** Where in an engine. */
  record Place(StorageTier tier, int group) {}

  /**
   * A block of the tree.
   *
   * @param prompt which leaf's path
   * @param block which block of the path
   * @param lie 0, or how far the engine hash is moved onto those of other blocks
   */
  record Path(int prompt, int block, int lie) {}
}
