package dev.warmpath.lab.gateway;

/** How a stub replica answers chat requests. */
enum AnswerShape {
  /** One JSON object of half a kilobyte. */
  PLAIN("plain", 0),
  /** An event stream, {@link #CHUNKS} chunks with a pause of 5 ms before each. */
  PACED("sse-paced", 5),
  /** The same without pauses, each chunk in a write of its own. */
  BURST("sse-burst", 0);

  /** Chunks with text in a stream. */
  static final int CHUNKS = 64;

  private final String text;
  private final int gapMillis;

  AnswerShape(String text, int gapMillis) {
    this.text = text;
    this.gapMillis = gapMillis;
  }

  /** As in the names of cells. */
  String text() {
    return text;
  }

  /** Milliseconds before each chunk. */
  int gapMillis() {
    return gapMillis;
  }

  /** Whether requests ask for a stream. */
  boolean streams() {
    return this != PLAIN;
  }
}
