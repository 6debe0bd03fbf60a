package dev.warmpath.simulator.trace;

import java.util.Arrays;

/**
 * Numbers the blocks of prompts: equal hashes behind equal blocks get the same number. Behind one
 * block few others follow, so 32 bits tell them apart.
 *
 * <p>Single writer.
 */
final class PieceNumbers {

  public static final int ROOT = -1;

  private static final int NONE = -1;

  /* Open addressing with linear probing; a key is the number before and the hash. */
  private long[] keys = new long[1 << 10];
  private int[] numbers = emptied(1 << 10);
  private int size;

  /** The number of the block with {@code hash} behind the block {@code before}. */
  public int of(int before, int hash) {
    if (2 * size >= keys.length) {
      grow();
    }
    long key = (long) before << 32 | (hash & 0xffffffffL);
    int place = place(key);
    if (numbers[place] == NONE) {
      keys[place] = key;
      numbers[place] = size++;
    }
    return numbers[place];
  }

  private int place(long key) {
    int mask = keys.length - 1;
    int place = (int) ((key * 0x9e3779b97f4a7c15L) >>> 32) & mask;
    while (numbers[place] != NONE && keys[place] != key) {
      place = (place + 1) & mask;
    }
    return place;
  }

  private void grow() {
    long[] oldKeys = keys;
    int[] oldNumbers = numbers;
    keys = new long[2 * oldKeys.length];
    numbers = emptied(keys.length);
    for (int i = 0; i < oldKeys.length; i++) {
      if (oldNumbers[i] != NONE) {
        int place = place(oldKeys[i]);
        keys[place] = oldKeys[i];
        numbers[place] = oldNumbers[i];
      }
    }
  }

  private static int[] emptied(int length) {
    int[] numbers = new int[length];
    Arrays.fill(numbers, NONE);
    return numbers;
  }
}
