package dev.warmpath.simulator.demo;

import java.util.Locale;

/** What one reply says about its prediction. */
enum PredictionVerdict {
  /** The engine reused just what was predicted. */
  EXACT,
  /** The engine reused less than predicted. */
  OVER,
  /** The engine reused less, because it evicted blocks of the prompt meanwhile. */
  EVICTED,
  /** The engine reused more than predicted. */
  UNDER,
  /** There was no prediction, or the engine does not say what it reused. */
  UNJUDGED,
  /** The request was not served. */
  FAILED;

  /**
   * @param evicted whether the replica evicted so much of the prompt between prediction and reply
   */
  static PredictionVerdict of(ChatReply reply, boolean evicted) {
    if (reply.error() != null) {
      return FAILED;
    }
    if (!reply.comparable()) {
      return UNJUDGED;
    }
    if (reply.promisedTooMuch()) {
      return evicted ? EVICTED : OVER;
    }
    return reply.predictedTokens() == reply.cachedTokens() ? EXACT : UNDER;
  }

  String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
