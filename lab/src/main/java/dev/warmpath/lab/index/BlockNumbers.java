package dev.warmpath.lab.index;

import java.util.Arrays;

/**
 * Numbers blocks by (number of the block before, local hash), so that equal numbers mean equal
 * prefixes.
 *
 * <p>Numbers count from 0 in order of first appearance.
 *
 * <p>Single writer.
 */
final class BlockNumbers {

  /** Stands before block 0. */
  static final int ROOT = -1;

  private int[] table = new int[1 << 16];
  private int[] parents = new int[1 << 15];
  private long[] locals = new long[1 << 15];
  private int size;

  /** The number of the block with {@code local} behind {@code parent}; a new one if need be. */
  int number(int parent, long local) {
    int at = slot(parent, local);
    if (table[at] != 0) {
      return table[at] - 1;
    }
    if (size == parents.length) {
      grow();
      at = slot(parent, local);
    }
    parents[size] = parent;
    locals[size] = local;
    table[at] = ++size;
    return size - 1;
  }

  private int slot(int parent, long local) {
    int mask = table.length - 1;
    int at = (int) (mix(parent, local) >>> 32) & mask;
    while (table[at] != 0) {
      int number = table[at] - 1;
      if (locals[number] == local && parents[number] == parent) {
        break;
      }
      at = at + 1 & mask;
    }
    return at;
  }

  private void grow() {
    parents = Arrays.copyOf(parents, 2 * size);
    locals = Arrays.copyOf(locals, 2 * size);
    table = new int[2 * table.length];
    for (int number = 0; number < size; number++) {
      table[slot(parents[number], locals[number])] = number + 1;
    }
  }

  private static long mix(int parent, long local) {
    long x = (local ^ (parent + 1L) * 0x9E3779B97F4A7C15L) * 0xD6E8FEB86659FD93L;
    return x ^ x << 32;
  }
}
