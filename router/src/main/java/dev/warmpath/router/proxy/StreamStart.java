package dev.warmpath.router.proxy;

import java.nio.charset.StandardCharsets;

/** What the first event of a stream is. */
enum StreamStart {
  /** It is not whole yet. */
  UNKNOWN,
  /** An error, of any API's form. */
  ERROR,
  CONTENT;

  private static final String DATA = "data:";

  /** That of a stream which begins with these bytes. */
  static StreamStart of(byte[] bytes) {
    String text = new String(bytes, StandardCharsets.UTF_8);
    boolean isError = false;
    for (int from = 0, end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      String line = text.substring(from, end).strip();
      from = end + 1;
      isError |= line.equals("event: error") || line.equals("event: response.failed");
      if (line.startsWith(DATA)) {
        String data = line.substring(DATA.length()).replace(" ", "");
        boolean says = data.startsWith("{\"error\":") || data.startsWith("{\"type\":\"error\"");
        return isError || says ? ERROR : CONTENT;
      }
    }
    return UNKNOWN;
  }
}
