package dev.warmpath.lab.chaos;

/** What a client does with its request and the answer. */
enum ClientBehaviour {
  /** Sends all, reads all, and keeps the connection for another request. */
  PATIENT(false, true),
  /** Sends all and leaves before or after the answer begins, without reading. */
  LEAVES_EARLY(false, false),
  /** Reads the beginning of a stream and leaves. */
  LEAVES_MID_STREAM(false, false),
  /** Reads more slowly than the engine writes. */
  READS_SLOWLY(true, true),
  /** Reads nothing for longer than any time limit, then all that is there. */
  STALLS(true, true),
  /** Sends half a body and leaves. */
  LEAVES_MID_BODY(false, false),
  /** Sends half a body and waits. */
  SILENT_MID_BODY(false, true);

  private final boolean longAnswer;
  private final boolean judged;

  ClientBehaviour(boolean longAnswer, boolean judged) {
    this.longAnswer = longAnswer;
    this.judged = judged;
  }

  /** Whether it asks for an answer that does not fit the buffers on its way. */
  boolean wantsLongAnswer() {
    return longAnswer;
  }

  /** Whether it stays to the end of the answer. */
  boolean isJudged() {
    return judged;
  }

  boolean sendsHalf() {
    return this == LEAVES_MID_BODY || this == SILENT_MID_BODY;
  }
}
