package dev.warmpath.kvindex.runs.snapshot;

import java.io.IOException;

/**
 * A stream is no snapshot that can be read: it is cut, damaged, of a later version, or something
 * else.
 *
 * <p>Immutable.
 */
public final class SnapshotException extends IOException {

  private static final long serialVersionUID = 1L;

  private final long offset;

  SnapshotException(String what, long offset) {
    super("snapshot at byte " + offset + ": " + what);
    this.offset = offset;
  }

  /** Bytes from the beginning of the snapshot to what is wrong. */
  public long offset() {
    return offset;
  }
}
