package dev.warmpath.tokenizer.train;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The letters that byte-level tokenizers write bytes with: a printable character for each of the
 * 256 bytes.
 */
final class ByteAlphabet {

  /*
   * The printable bytes of Latin-1 stand for themselves and have the first ids, in order. The
   * others follow, in order, written as the characters from U+0100 on. That is the alphabet of the
   * ByteLevel pre-tokenizer, which does this translation when a text is encoded.
   */
  private static final List<String> LETTERS = new ArrayList<>(256);
  private static final int[] ID_OF_BYTE = new int[256];

  static {
    for (int b = 0; b < 256; b++) {
      if (isPrintable(b)) {
        add(b, (char) b);
      }
    }
    char next = 0x100;
    for (int b = 0; b < 256; b++) {
      if (!isPrintable(b)) {
        add(b, next++);
      }
    }
  }

  private ByteAlphabet() {}

  /** The letters in the order of their ids. */
  static List<String> letters() {
    return List.copyOf(LETTERS);
  }

  /** The letters' ids for the UTF-8 bytes of {@code text}. */
  static int[] ids(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    int[] ids = new int[bytes.length];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = ID_OF_BYTE[bytes[i] & 0xff];
    }
    return ids;
  }

  private static boolean isPrintable(int b) {
    return (b >= '!' && b <= '~') || (b >= 0xa1 && b != 0xad);
  }

  private static void add(int b, char letter) {
    ID_OF_BYTE[b] = LETTERS.size();
    LETTERS.add(String.valueOf(letter));
  }
}
