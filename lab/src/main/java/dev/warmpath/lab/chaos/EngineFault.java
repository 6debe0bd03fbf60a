package dev.warmpath.lab.chaos;

import static java.nio.charset.StandardCharsets.UTF_8;

/** How an engine fails. Health checks fail too under {@link #KILLED} and {@link #HUNG} only. */
enum EngineFault {
  /** Connections are refused, those that are open are reset, events end; then a new lifetime. */
  KILLED,
  /** Connections are accepted and nothing moves on them. */
  HUNG,
  /** Each piece of a response comes late. */
  SLOW,
  /** Bytes that are no HTTP, as a response or between two chunks of one. */
  NOT_HTTP("Chaos is no protocol.\r\n\r\n"),
  /** Status 200 with a body that is no JSON and no event stream. */
  NOT_JSON(response("200 OK", "", EngineFault.RUBBISH)),
  /** Status 500 with an error. */
  FAILING(response("500 Internal Server Error", "", error("chaos_failing"))),
  /** Status 503 with an error and a time to wait. */
  BUSY(response("503 Service Unavailable", "retry-after: 1\r\n", error("chaos_busy"))),
  /** Responses end with a reset of the connection, within or after a piece. */
  RESET,
  /** Responses end with an orderly close of the connection, within or after a piece. */
  CLOSED;

  /** The body of {@link #NOT_JSON}. */
  static final String RUBBISH = "<html>This is neither JSON nor an event stream.</html>";

  private final String answer;

  EngineFault() {
    this("");
  }

  EngineFault(String answer) {
    this.answer = answer;
  }

  /** What it answers to every request instead of the engine; empty if the engine is asked. */
  byte[] answer() {
    return answer.getBytes(UTF_8);
  }

  private static String response(String status, String headers, String body) {
    return "HTTP/1.1 "
        + status
        + "\r\ncontent-type: application/json\r\n"
        + headers
        + "connection: close\r\ncontent-length: "
        + body.length()
        + "\r\n\r\n"
        + body;
  }

  private static String error(String code) {
    return "{\"error\":{\"message\":\"Chaos.\",\"type\":\"chaos\",\"param\":null,\"code\":\""
        + code
        + "\"}}";
  }
}
