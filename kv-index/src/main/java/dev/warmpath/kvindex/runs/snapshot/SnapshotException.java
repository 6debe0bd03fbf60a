package dev.warmpath.kvindex.runs.snapshot;

import java.io.IOException;

/**
 * A stream is no snapshot that can be read: it is cut, damaged, of a later version, or something
 * else.
 */
public final class SnapshotException extends IOException {

  private static final long serialVersionUID = 1L;

  private final long offset;
  private final boolean otherVersion;

  SnapshotException(String what, long offset) {
    this(what, offset, false);
  }

  private SnapshotException(String what, long offset, boolean otherVersion) {
    super("snapshot at byte " + offset + ": " + what);
    this.offset = offset;
    this.otherVersion = otherVersion;
  }

  static SnapshotException otherVersion(String what, long offset) {
    return new SnapshotException(what, offset, true);
  }

  /** Whether it is a snapshot, but of a version that is not understood. */
  public boolean isOtherVersion() {
    return otherVersion;
  }

  /** Bytes from the beginning of the snapshot to what is wrong. */
  public long offset() {
    return offset;
  }
}
