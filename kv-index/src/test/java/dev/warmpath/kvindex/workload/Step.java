package dev.warmpath.kvindex.workload;

import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.block.BlockChain;
import java.util.Arrays;

/**
 * One call to an index, with all that it says. Engines are numbered as they arrive; a step of an
 * engine that is not there does nothing, so any step can be left out.
 *
 * <p>Immutable.
 */
public sealed interface Step {

  /** A new engine. */
  record Arrive(int engine, CopyCounting counting, CacheLayout layout) implements Step {

    @Override
    public String toString() {
      return "Arrive[e" + engine + ' ' + counting + ' ' + Layouts.text(layout) + ']';
    }
  }

  /** An engine leaves. */
  record Leave(int engine) implements Step {}

  /** An engine's layout becomes known better. */
  record Relayout(int engine, CacheLayout layout) implements Step {

    @Override
    public String toString() {
      return "Relayout[e" + engine + ' ' + Layouts.text(layout) + ']';
    }
  }

  /** An engine's cache is reset. */
  record Clear(int engine) implements Step {}

  /** Events of an engine may have been lost. */
  record Suspend(int engine) implements Step {}

  /** An engine is seen to reuse the beginning of a prompt. */
  record Confirm(int engine, Place place, BlockChain prompt, int blocks) implements Step {

    @Override
    public String toString() {
      return "Confirm[e%d %s %d of %s]".formatted(engine, place, blocks, Script.text(prompt));
    }
  }

  /** The hashes and names of a prompt's first blocks are computed. */
  record Compute(Store names) implements Step {}

  /** The index is written to a snapshot and read back. */
  record Reload() implements Step {}

  /** An engine stores blocks. */
  record Store(int engine, Place place, Below below, long[] hashes, long[] localHashes)
      implements Step {

    /** The blocks {@code from … to − 1} alone, behind the one before them. */
    public Store part(int from, int to) {
      boolean moved = below.named() && from > 0;
      return new Store(
          engine,
          place,
          moved ? new Below(true, false, hashes[from - 1], below.again) : below,
          Arrays.copyOfRange(hashes, from, to),
          Arrays.copyOfRange(localHashes, from, to));
    }

    @Override
    public String toString() {
      return "Store[e" + engine + ' ' + place + ' ' + below + ' ' + blocks() + ']';
    }

    private String blocks() {
      return below.named() ? Columns.text(hashes, localHashes) : Columns.text(hashes);
    }
  }

  /** An engine drops a copy of each block. */
  record Remove(int engine, Place place, long[] hashes) implements Step {

    /** Without the blocks {@code from … to − 1}. */
    public Remove without(int from, int to) {
      long[] left = Arrays.copyOf(hashes, hashes.length - (to - from));
      System.arraycopy(hashes, to, left, from, hashes.length - to);
      return new Remove(engine, place, left);
    }

    @Override
    public String toString() {
      return "Remove[e" + engine + ' ' + place + ' ' + Columns.text(hashes) + ']';
    }
  }

  /** Where in an engine. */
  record Place(StorageTier tier, int group) {

    @Override
    public String toString() {
      return tier + "/" + group;
    }
  }

  /**
   * What the first stored block is behind.
   *
   * @param again whether the engine only says what it said before
   */
  record Below(boolean named, boolean atRoot, long parent, boolean again) {

    static final Below NOTHING_KNOWN = new Below(false, false, 0);

    public Below(boolean named, boolean atRoot, long parent) {
      this(named, atRoot, parent, false);
    }

    @Override
    public String toString() {
      return again ? "again " + place() : place();
    }

    private String place() {
      if (!named) {
        return "unnamed";
      }
      return atRoot ? "at root " + parent : "behind " + Dialect.text(parent);
    }
  }
}
