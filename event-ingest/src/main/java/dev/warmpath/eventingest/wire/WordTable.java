package dev.warmpath.eventingest.wire;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/**
 * Finds a word of a fixed list by its bytes, with one comparison. No two words may agree in length
 * and last byte.
 */
final class WordTable {

  /*
   * A word's place is worked out from its length and its last byte. The factor is searched for until
   * no two words share a place.
   */

  private static final int SIZE = 128;
  private static final int ABSENT = -1;
  private static final int MOST = 1 << 20;

  private final byte[][] words;
  private final int[] places = new int[SIZE];
  private final int factor;

  WordTable(List<String> words) {
    this.words =
        words.stream().map(word -> word.getBytes(StandardCharsets.US_ASCII)).toArray(byte[][]::new);
    int candidate = 1;
    while (!fits(candidate)) {
      candidate += 2;
      if (candidate > MOST) {
        throw new IllegalArgumentException("words=" + words);
      }
    }
    factor = candidate;
  }

  /** The index of the word in {@code bytes[from, from + length)}, or -1. */
  int find(byte[] bytes, int from, int length) {
    if (length == 0) {
      return ABSENT;
    }
    int index = places[place(factor, length, bytes[from + length - 1])];
    if (index == ABSENT) {
      return ABSENT;
    }
    byte[] word = words[index];
    return Arrays.equals(word, 0, word.length, bytes, from, from + length) ? index : ABSENT;
  }

  private boolean fits(int candidate) {
    Arrays.fill(places, ABSENT);
    for (int i = 0; i < words.length; i++) {
      byte[] word = words[i];
      int place = place(candidate, word.length, word[word.length - 1]);
      if (places[place] != ABSENT) {
        return false;
      }
      places[place] = i;
    }
    return true;
  }

  private static int place(int factor, int length, byte last) {
    return (length * factor + last * (factor >>> 7)) & (SIZE - 1);
  }
}
