package dev.warmpath.eventingest.memory;

import dev.warmpath.eventingest.stream.ResumeListener;
import java.util.Locale;

/**
 * What becomes of an engine that a snapshot knew.
 *
 * <p>Immutable.
 */
public enum EngineFate {
  /** Restored; its replay socket has not answered yet. */
  WAITING,
  /** Restored, and shown to be true. */
  KEPT,
  /** Forgotten: the engine's process is another one. */
  OTHER_LIFETIME,
  /** Forgotten: the engine's replay buffer begins later than the snapshot ends. */
  OUT_OF_REACH,
  /** Forgotten: its replay socket does not answer. */
  NO_ANSWER,
  /** Forgotten: it has no replay socket, so that nothing can be shown to be true. */
  NO_REPLAY,
  /** Forgotten: it is not configured any more. */
  NOT_CONFIGURED,
  /** Forgotten: it is configured with another model or dialect. */
  CHANGED,
  /** Nothing was known of it. */
  UNKNOWN;

  /** The name in metrics and logs. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  static EngineFate of(ResumeListener.Outcome outcome) {
    return switch (outcome) {
      case KEPT -> KEPT;
      case OTHER_LIFETIME -> OTHER_LIFETIME;
      case OUT_OF_REACH -> OUT_OF_REACH;
      case NO_ANSWER -> NO_ANSWER;
    };
  }
}
