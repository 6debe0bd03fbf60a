package dev.warmpath.kvindex.runs;

import java.util.Arrays;

/** A list of ints that gives room back when it shrinks. Single writer. */
final class IntVector {

  private static final int MIN_CAPACITY = 4;

  private final ByteBudget budget;
  private int[] ints = {};
  private int size;

  public IntVector(ByteBudget budget) {
    this.budget = budget;
  }

  public int size() {
    return size;
  }

  public int get(int index) {
    return ints[index];
  }

  public void set(int index, int value) {
    ints[index] = value;
  }

  public void add(int value) {
    if (size == ints.length) {
      resize(Math.max(MIN_CAPACITY, size + size / 2));
    }
    ints[size++] = value;
  }

  public long bytes() {
    return 4L * ints.length;
  }

  public void clear() {
    size = 0;
    resize(0);
  }

  public int removeLast() {
    int last = ints[--size];
    if (size == 0 || (ints.length > 4 * MIN_CAPACITY && size < ints.length / 3)) {
      resize(size + size / 2);
    }
    return last;
  }

  private void resize(int capacity) {
    budget.force(4L * (capacity - ints.length));
    ints = Arrays.copyOf(ints, capacity);
  }
}
