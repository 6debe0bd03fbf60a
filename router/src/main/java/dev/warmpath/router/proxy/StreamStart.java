package dev.warmpath.router.proxy;

import java.nio.charset.StandardCharsets;

/** What a stream begins with, as far as it tells whether its prompt is computed. */
enum StreamStart {
  /** No event has come that tells. */
  UNKNOWN,
  /** An error, of any API's form. */
  ERROR,
  CONTENT;

  private static final String DATA = "data:";
  private static final String EVENT = "event:";

  /** That of a stream which begins with these bytes. */
  static StreamStart of(byte[] bytes) {
    String text = new String(bytes, StandardCharsets.UTF_8);
    String event = "";
    int from = 0;
    for (int end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      String line = text.substring(from, end).strip();
      from = end + 1;
      if (line.startsWith(EVENT)) {
        event = line.substring(EVENT.length()).strip();
      } else if (line.startsWith(DATA) && !SseUsageScanner.OPENING.contains(event)) {
        String data = line.substring(DATA.length()).replace(" ", "");
        boolean isError = event.equals("error") || event.equals("response.failed");
        boolean says = data.startsWith("{\"error\":") || data.startsWith("{\"type\":\"error\"");
        return isError || says ? ERROR : CONTENT;
      } else if (line.isEmpty()) {
        event = "";
      }
    }
    return UNKNOWN;
  }
}
