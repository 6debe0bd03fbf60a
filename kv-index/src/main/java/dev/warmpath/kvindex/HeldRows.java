package dev.warmpath.kvindex;

import java.util.Arrays;

/**
 * Which of a prompt's blocks are held, a bit each, in rows; reused from prompt to prompt.
 *
 * <p>Single writer.
 */
public final class HeldRows {

  /** Kept from prompt to prompt; a longer prompt on a large fleet takes more for its own time. */
  private static final int KEPT_WORDS = 1 << 15;

  private long[] words = new long[16];
  private int wordsPerRow;
  private int rows;

  /** Forgets all rows; the next ones have room for this many blocks. */
  public void begin(int blocks) {
    wordsPerRow = (blocks >>> 6) + 2;
    rows = 0;
  }

  /** Gives back what only unusual prompts need; forgets all rows. */
  public void trim() {
    rows = 0;
    if (words.length > KEPT_WORDS) {
      words = new long[16];
    }
  }

  /** Longs that are kept. */
  public int keptWords() {
    return words.length;
  }

  /** A new row in which nothing is held. */
  public int add() {
    int needed = (rows + 1) * wordsPerRow;
    if (needed > words.length) {
      words = Arrays.copyOf(words, Math.max(needed, 2 * words.length));
    }
    Arrays.fill(words, rows * wordsPerRow, needed, 0);
    return rows++;
  }

  /** Marks block {@code block + i} for each bit i of the mask. */
  public void mark(int row, int block, long mask) {
    int at = row * wordsPerRow + (block >>> 6);
    int shift = block & 63;
    words[at] |= mask << shift;
    if (shift > 0) {
      words[at + 1] |= mask >>> (64 - shift);
    }
  }

  /** Marks in {@code row} what is marked in {@code other}, below block {@code end} only. */
  public void markAll(int row, int other, int end) {
    int to = row * wordsPerRow;
    int from = other * wordsPerRow;
    int full = Math.min(end >>> 6, wordsPerRow - 1);
    for (int i = 0; i < full; i++) {
      words[to + i] |= words[from + i];
    }
    long rest = end >>> 6 < wordsPerRow ? (1L << (end & 63)) - 1 : -1L;
    words[to + full] |= words[from + full] & rest;
  }

  public boolean holds(int row, int block) {
    int word = block >>> 6;
    return word < wordsPerRow && ((words[row * wordsPerRow + word] >>> (block & 63)) & 1) != 0;
  }

  /** How many blocks from the first one on are held. */
  public int leading(int row) {
    int from = row * wordsPerRow;
    for (int i = 0; i < wordsPerRow; i++) {
      if (words[from + i] != -1L) {
        return (i << 6) + Long.numberOfTrailingZeros(~words[from + i]);
      }
    }
    return wordsPerRow << 6;
  }
}
