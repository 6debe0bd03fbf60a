package dev.warmpath.eventingest.wire;

import java.util.Locale;

/** Why an event of a batch was not read. */
public enum SkipReason {
  /** An event type that is not known here. */
  UNKNOWN_TYPE,
  /** Neither array nor map, or without a type. */
  UNTYPED,
  /** A store with a field missing or of a wrong type: its blocks are not credited. */
  MALFORMED_STORED,
  /**
   * A removal with a field missing or of a wrong type: blocks may be credited that are gone, so the
   * stream cannot be believed any more.
   */
  MALFORMED_REMOVED;

  /** The constant as it appears in metrics. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
