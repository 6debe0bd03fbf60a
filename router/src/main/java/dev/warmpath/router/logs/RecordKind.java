package dev.warmpath.router.logs;

import java.util.Locale;

/** The kinds of records, as the capture format and the metrics name them. Immutable. */
enum RecordKind {
  EVENTS,
  REPLAY,
  REQUEST,
  RESPONSE,
  MARK;

  /** The name in files and metrics. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
