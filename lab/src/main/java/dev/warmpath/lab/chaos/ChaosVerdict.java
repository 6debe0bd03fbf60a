package dev.warmpath.lab.chaos;

/**
 * What became of one request.
 *
 * @param detail for people: what was seen
 * @param replica the one that the answer names; empty if it names none
 * @param firstByteMillis from the first byte sent to the first received; negative if none came
 */
record ChaosVerdict(Kind kind, String detail, String replica, double firstByteMillis) {

  /** The classes of outcomes. */
  enum Kind {
    /** The whole right answer. */
    COMPLETED,
    /** 429 or 503, with Retry-After and an error that gives a reason. */
    REFUSED,
    /** Another error, or a response that is visibly cut off. */
    CLEAR_ERROR,
    /** The client left, as it meant to. */
    LEFT,
    /** Nothing came, and nothing ended, for longer than all time limits together. */
    HUNG,
    /** Anything else. */
    WRONG
  }

  static ChaosVerdict of(Kind kind, String detail) {
    return new ChaosVerdict(kind, detail, "", -1);
  }

  ChaosVerdict with(String replica, double firstByteMillis) {
    return new ChaosVerdict(kind, detail, replica, firstByteMillis);
  }
}
