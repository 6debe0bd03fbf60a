package dev.warmpath.tokenizer.encode;

import java.util.Arrays;

/**
 * Token ids that are being put together.
 *
 * <p>Confined to one thread.
 */
final class IdBuffer {

  private int[] ids;
  private int count;

  IdBuffer(int expected) {
    ids = new int[Math.max(16, expected)];
  }

  int count() {
    return count;
  }

  void add(int id) {
    makeRoom(1);
    ids[count++] = id;
  }

  void add(int[] more) {
    makeRoom(more.length);
    System.arraycopy(more, 0, ids, count, more.length);
    count += more.length;
  }

  /** A copy of the ids from {@code from} on. */
  int[] from(int from) {
    return Arrays.copyOfRange(ids, from, count);
  }

  private void makeRoom(int more) {
    if (count + more > ids.length) {
      ids = Arrays.copyOf(ids, Math.max(2 * ids.length, count + more));
    }
  }
}
