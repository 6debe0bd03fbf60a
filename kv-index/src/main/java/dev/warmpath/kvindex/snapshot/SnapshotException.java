package dev.warmpath.kvindex.snapshot;

import java.io.IOException;
import java.util.Locale;

/** A stream is no snapshot that can be used. */
public final class SnapshotException extends IOException {

  private static final long serialVersionUID = 1L;

  /** Why not. */
  public enum Reason {
    /** It cannot be read at all. */
    UNREADABLE,
    /** It is cut, has other bytes than were written, or was never a snapshot. */
    DAMAGED,
    /** Another version of Warmpath wrote it. */
    OTHER_VERSION,
    /** It has more bytes than a snapshot may have. */
    TOO_LARGE,
    /** It was taken too long ago. */
    TOO_OLD;

    /** The name in metrics and logs. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private final Reason reason;

  public SnapshotException(Reason reason, String what) {
    super(what);
    this.reason = reason;
  }

  public Reason reason() {
    return reason;
  }
}
