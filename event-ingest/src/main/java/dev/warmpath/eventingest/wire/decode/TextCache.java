package dev.warmpath.eventingest.wire.decode;

import dev.warmpath.eventingest.wire.WireException;
import java.util.Arrays;

/**
 * The short texts that an engine says again and again, as the same objects.
 *
 * <p>Confined to its decoder.
 */
final class TextCache {

  private static final int ENTRIES = 16;
  private static final int LONGEST_BYTES = 64;

  private final byte[][] keys = new byte[ENTRIES][];
  private final String[] texts = new String[ENTRIES];

  /** Reads a text. */
  String read(WireCursor cursor) throws WireException {
    int length = cursor.textLength();
    int from = cursor.position();
    byte[] bytes = cursor.bytes();
    if (length == 0 || length > LONGEST_BYTES) {
      return cursor.text(length);
    }
    int place = (length * 7 + bytes[from + length - 1]) & (ENTRIES - 1);
    byte[] key = keys[place];
    if (key != null && Arrays.equals(key, 0, key.length, bytes, from, from + length)) {
      cursor.seek(from + length);
      return texts[place];
    }
    String text = cursor.text(length);
    keys[place] = Arrays.copyOfRange(bytes, from, from + length);
    texts[place] = text;
    return text;
  }
}
