package dev.warmpath.kvindex.block;

import java.util.Arrays;

/** The local hashes of some blocks that follow each other in a prompt without extra keys. */
public final class BlockRun {

  private final ChainSpace space;
  private final long[] localHashes;

  BlockRun(ChainSpace space, long[] localHashes) {
    this.space = space;
    this.localHashes = localHashes;
  }

  /** The space that the hashes are in. */
  public ChainSpace space() {
    return space;
  }

  /** Number of blocks. */
  public int blocks() {
    return localHashes.length;
  }

  /** Copies the first {@code count} hashes into {@code target} from {@code at} on. */
  void copyTo(long[] target, int at, int count) {
    System.arraycopy(localHashes, 0, target, at, count);
  }

  @Override
  public String toString() {
    return "BlockRun[space=" + space + ", hashes=" + Arrays.hashCode(localHashes) + "]";
  }
}
