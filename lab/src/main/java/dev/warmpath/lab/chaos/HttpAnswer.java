package dev.warmpath.lab.chaos;

import java.io.InputStream;
import java.util.Map;

/**
 * One HTTP/1.1 response as it came over a socket, whole or not.
 *
 * @param status 0 if no whole head came
 * @param headers names in lower case
 * @param body what came of it, without its framing
 * @param detail what is malformed, or how it was cut
 */
record HttpAnswer(End end, int status, Map<String, String> headers, String body, String detail) {

  /** How it ended. */
  enum End {
    /** As its framing says. */
    WHOLE,
    /** By a close or a reset before that. */
    CUT,
    /** Not at all: nothing came for too long. */
    SILENT,
    /** In bytes that are no HTTP. */
    MALFORMED
  }

  HttpAnswer {
    headers = Map.copyOf(headers);
  }

  /** Reads one response; a read that times out makes it silent. */
  static HttpAnswer read(InputStream in) {
    return new AnswerReader(in).read();
  }

  String header(String name) {
    return headers.getOrDefault(name, "");
  }

  /** Whether the connection may be used for another request. */
  boolean keepsAlive() {
    return end == End.WHOLE && !header("connection").equalsIgnoreCase("close");
  }
}
