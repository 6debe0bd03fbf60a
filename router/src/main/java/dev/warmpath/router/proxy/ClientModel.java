package dev.warmpath.router.proxy;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/**
 * Puts the model that a client asked for into an answer, document or stream, in the place of the
 * one that its engine was asked for: each field {@code model} of that value, at any depth. Bytes
 * are held back only while they may be such a field. How they are cut into chunks makes no
 * difference.
 *
 * <p>In JSON the name can only stand in quotes that are not escaped as a name or a text of its own,
 * never inside a text.
 *
 * <p>Confined to its event loop.
 */
public final class ClientModel {

  private static final byte[] NAME = "\"model\"".getBytes(StandardCharsets.US_ASCII);

  /** Longest space between name and value. */
  private static final int LONGEST_SPACE = 64;

  /** Where in an answer the next byte is. */
  private enum At {
    NAME,
    COLON,
    VALUE_BEGIN,
    VALUE
  }

  private final byte[] given;
  private final byte[] asked;
  private final ByteArrayOutputStream held = new ByteArrayOutputStream();
  private At at = At.NAME;

  /** Bytes of the name or the value that have come; of the space before the value. */
  private int matched;

  ClientModel(String given, String asked) {
    this.given = quoted(given);
    this.asked = quoted(asked);
  }

  private static byte[] quoted(String text) {
    StringBuilder json = new StringBuilder("\"");
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        json.append('\\');
      }
      json.append(c);
    }
    return json.append('"').toString().getBytes(StandardCharsets.UTF_8);
  }

  /** The next bytes for the client; they may be fewer, or more. */
  public byte[] restore(byte[] chunk) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(chunk.length + asked.length);
    for (byte next : chunk) {
      take(next, out);
    }
    return out.toByteArray();
  }

  /** What is still held back when the answer is over. */
  public byte[] rest() {
    byte[] rest = held.toByteArray();
    held.reset();
    return rest;
  }

  private void take(byte next, ByteArrayOutputStream out) {
    switch (at) {
      case NAME -> {
        if (next != NAME[matched]) {
          miss(next, out);
        } else {
          held.write(next);
          advance(++matched == NAME.length, At.COLON);
        }
      }
      case COLON -> space(next, next == ':', At.VALUE_BEGIN, out);
      case VALUE_BEGIN -> space(next, next == '"', At.VALUE, out);
      case VALUE -> {
        if (next != given[matched]) {
          miss(next, out);
        } else if (++matched < given.length) {
          held.write(next);
        } else {
          byte[] before = held.toByteArray();
          out.write(before, 0, before.length - given.length + 1);
          out.writeBytes(asked);
          held.reset();
          advance(true, At.NAME);
        }
      }
    }
  }

  private void space(byte next, boolean isEnd, At then, ByteArrayOutputStream out) {
    if (isEnd) {
      held.write(next);
      advance(true, then);
      matched = then == At.VALUE ? 1 : 0;
    } else if ((next == ' ' || next == '\n' || next == '\r' || next == '\t')
        && ++matched < LONGEST_SPACE) {
      held.write(next);
    } else {
      miss(next, out);
    }
  }

  private void advance(boolean isWhole, At then) {
    if (isWhole) {
      at = then;
      matched = 0;
    }
  }

  /** It was none; the byte may begin another one. */
  private void miss(byte next, ByteArrayOutputStream out) {
    out.writeBytes(held.toByteArray());
    held.reset();
    at = At.NAME;
    matched = 0;
    if (next == NAME[0]) {
      held.write(next);
      matched = 1;
    } else {
      out.write(next);
    }
  }
}
