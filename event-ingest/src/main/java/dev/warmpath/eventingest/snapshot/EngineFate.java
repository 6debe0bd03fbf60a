package dev.warmpath.eventingest.snapshot;

import java.util.Locale;

/** What becomes of an engine that a snapshot knew. */
public enum EngineFate {
  /** Restored; its replay socket has not answered yet. */
  WAITING,
  /** Restored, and shown to be true. */
  KEPT,
  /**
   * The process is the same by its start, but what it did meanwhile is not known: names are kept,
   * and nothing is credited until it is shown to be there.
   */
  SUSPENDED,
  /** Forgotten: the engine's process is another one. */
  OTHER_LIFETIME,
  /** Forgotten: the engine's replay buffer begins later than the snapshot ends. */
  OUT_OF_REACH,
  /** Forgotten: its replay socket does not answer, nor do its metrics say when it started. */
  NO_ANSWER,
  /** Forgotten: no batch heard proves it, it has no replay socket, and its start is not known. */
  NO_REPLAY,
  /** Forgotten: it is not configured any more. */
  NOT_CONFIGURED,
  /** Forgotten: it is configured otherwise: its model, its dialect, or how its events are read. */
  CHANGED,
  /** Nothing was known of it. */
  UNKNOWN;

  /** The name in metrics and logs. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
