package dev.warmpath.kvindex.plain;

import java.util.Arrays;

/**
 * A small multiset of shelf ids.
 *
 * <p>An id is in it while its count is above zero. Ids are found by scanning, which suits the few
 * shelves that share a block.
 *
 * <p>Single writer, many readers, under the lock of the index.
 */
final class Tally {

  private int[] shelves = new int[1];
  private int[] counts = new int[1];
  private int size;

  /** Adds one; returns the new count of {@code shelf}. */
  int add(int shelf) {
    int at = indexOf(shelf);
    if (at < 0) {
      at = append(shelf);
    }
    return ++counts[at];
  }

  /** Takes one away; returns the new count of {@code shelf}, or −1 when there was none. */
  int take(int shelf) {
    int at = indexOf(shelf);
    if (at < 0) {
      return -1;
    }
    int left = --counts[at];
    if (left == 0) {
      size--;
      shelves[at] = shelves[size];
      counts[at] = counts[size];
    }
    return left;
  }

  /** Takes all of {@code shelf} away. */
  void drop(int shelf) {
    while (take(shelf) > 0) {
      // until the last one
    }
  }

  /** How often {@code shelf} is in it. */
  int count(int shelf) {
    int at = indexOf(shelf);
    return at < 0 ? 0 : counts[at];
  }

  /** Sum of all counts. */
  long total() {
    return Arrays.stream(counts, 0, size).asLongStream().sum();
  }

  /** Number of different shelves. */
  int size() {
    return size;
  }

  /** The shelf at {@code index}, in no particular order. */
  int shelf(int index) {
    return shelves[index];
  }

  private int indexOf(int shelf) {
    for (int i = 0; i < size; i++) {
      if (shelves[i] == shelf) {
        return i;
      }
    }
    return -1;
  }

  private int append(int shelf) {
    if (size == shelves.length) {
      shelves = Arrays.copyOf(shelves, 2 * size);
      counts = Arrays.copyOf(counts, 2 * size);
    }
    shelves[size] = shelf;
    counts[size] = 0;
    return size++;
  }
}
