package dev.warmpath.router.proxy;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Empties the {@code kv_transfer_params} of an answer, in which vLLM names hosts, ports and blocks
 * of engines, and TensorRT-LLM's {@code disaggregated_params}. Their bytes become blanks where they
 * lie, so that nothing is parsed, delayed or changed in length; the object or list stays, empty.
 * How the bytes are cut into chunks makes no difference.
 *
 * <p>In JSON the name can only stand in quotes that are not escaped as a name or a text of its own,
 * never inside a text.
 *
 * <p>Confined to its event loop.
 */
final class TransferParams {

  private static final byte[] KV_TRANSFER = quoted("kv_transfer_params");
  private static final byte[] DISAGGREGATED = quoted("disaggregated_params");

  /** Where in an answer the next byte is. */
  private enum At {
    ELSEWHERE,
    /** Behind the name. */
    COLON,
    VALUE,
    INSIDE,
    TEXT_INSIDE,
    ESCAPE_INSIDE
  }

  private At at = At.ELSEWHERE;
  private byte[] name = KV_TRANSFER;
  private int matched;
  private int depth;

  /**
   * Whether a request may have such parameters. One that only writes of them in a text counts too:
   * its client could as well have sent some.
   */
  static boolean areNamedIn(byte[] request) {
    for (int at = 0; at < request.length; at++) {
      boolean mayEnd = request[at] == 's';
      if (mayEnd && (ends(request, at, KV_TRANSFER) || ends(request, at, DISAGGREGATED))) {
        return true;
      }
    }
    return false;
  }

  /** Whether a name ends there, without its quotes, which may be escaped. */
  private static boolean ends(byte[] request, int at, byte[] quoted) {
    int last = quoted.length - 3;
    return at >= last && Arrays.equals(request, at - last, at + 1, quoted, 1, last + 2);
  }

  private static byte[] quoted(String name) {
    return ('"' + name + '"').getBytes(StandardCharsets.US_ASCII);
  }

  /** Empties them in the next bytes, in place; returns whether that changed any. */
  boolean empty(byte[] chunk) {
    boolean changed = false;
    for (int i = 0; i < chunk.length; i++) {
      if (isHidden(chunk[i]) && chunk[i] != '\n' && chunk[i] != '\r') {
        chunk[i] = ' ';
        changed = true;
      }
    }
    return changed;
  }

  private boolean isHidden(byte next) {
    switch (at) {
      case ELSEWHERE -> look(next);
      case COLON -> expect(next, next == ':', At.VALUE);
      case VALUE -> {
        depth = 1;
        expect(next, next == '{' || next == '[', At.INSIDE);
      }
      case INSIDE -> {
        return inside(next);
      }
      case TEXT_INSIDE -> {
        at = next == '\\' ? At.ESCAPE_INSIDE : next == '"' ? At.INSIDE : At.TEXT_INSIDE;
        return true;
      }
      case ESCAPE_INSIDE -> {
        at = At.TEXT_INSIDE;
        return true;
      }
    }
    return false;
  }

  private void look(byte next) {
    if (matched == 1) {
      name = next == DISAGGREGATED[1] ? DISAGGREGATED : KV_TRANSFER; // they begin differently
    }
    if (next == name[matched]) {
      matched++;
      if (matched == name.length) {
        matched = 0;
        at = At.COLON;
      }
    } else {
      matched = next == '"' ? 1 : 0;
    }
  }

  private void expect(byte next, boolean isThere, At behind) {
    if (isThere) {
      at = behind;
    } else if (next != ' ' && next != '\t' && next != '\n' && next != '\r') {
      at = At.ELSEWHERE;
      look(next);
    }
  }

  private boolean inside(byte next) {
    if (next == '"') {
      at = At.TEXT_INSIDE;
    } else if (next == '{' || next == '[') {
      depth++;
    } else if (next == '}' || next == ']') {
      depth--;
      if (depth == 0) {
        at = At.ELSEWHERE;
        return false;
      }
    }
    return true;
  }
}
