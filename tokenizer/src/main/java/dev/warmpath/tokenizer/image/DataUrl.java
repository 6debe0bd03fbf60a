package dev.warmpath.tokenizer.image;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/** Bytes that stand in a URL: {@code data:image/png;base64,…}. */
final class DataUrl {

  /** Characters that are decoded at a time; a multiple of four. */
  private static final int PIECE_CHARS = 1 << 16;

  private static final int LONGEST_HEAD_CHARS = 256;

  private DataUrl() {}

  static boolean isOne(String url) {
    return url.regionMatches(true, 0, "data:", 0, 5);
  }

  /** The bytes, in the one copy that is made of them; null if the engine would refuse them. */
  static byte @Nullable [] bytes(String url) {
    int comma = url.indexOf(',');
    if (comma < 0 || comma > LONGEST_HEAD_CHARS || !url.startsWith(";base64", comma - 7)) {
      return null;
    }
    int from = comma + 1;
    int length = url.length() - from;
    if (length == 0 || length % 4 != 0) {
      return null;
    }
    int padding = url.endsWith("==") ? 2 : url.endsWith("=") ? 1 : 0;
    byte[] bytes = new byte[length / 4 * 3 - padding];
    int filled = 0;
    try {
      for (int at = from; at < url.length(); at += PIECE_CHARS) {
        int end = Math.min(url.length(), at + PIECE_CHARS);
        byte[] piece = url.substring(at, end).getBytes(StandardCharsets.ISO_8859_1);
        byte[] decoded = Base64.getDecoder().decode(piece);
        if (filled + decoded.length > bytes.length) {
          return null;
        }
        System.arraycopy(decoded, 0, bytes, filled, decoded.length);
        filled += decoded.length;
      }
    } catch (IllegalArgumentException e) {
      return null;
    }
    return filled == bytes.length ? bytes : Arrays.copyOf(bytes, filled);
  }
}
