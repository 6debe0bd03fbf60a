package dev.warmpath.simulator.check;

import dev.warmpath.simulator.load.ChatReply;
import java.util.Locale;

/** What one reply says about its prediction. Immutable. */
enum Verdict {
  /** The engine reused just what was predicted. */
  EXACT,
  /** The engine reused less than predicted. */
  OVER,
  /** The engine reused less, and evicted blocks between prediction and reply. */
  EVICTED,
  /** The engine reused more than predicted. */
  UNDER,
  /** There was no prediction, or the engine does not say what it reused. */
  UNJUDGED,
  /** The request was not served. */
  FAILED;

  /**
   * @param evicted whether the replica evicted anything between prediction and reply
   */
  static Verdict of(ChatReply reply, boolean evicted) {
    if (reply.error() != null) {
      return FAILED;
    }
    if (reply.predictedTokens() < 0 || reply.cachedTokens() < 0) {
      return UNJUDGED;
    }
    int difference = reply.predictedTokens() - reply.cachedTokens();
    if (difference == 0) {
      return EXACT;
    }
    if (difference < 0) {
      return UNDER;
    }
    return evicted ? EVICTED : OVER;
  }

  String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
