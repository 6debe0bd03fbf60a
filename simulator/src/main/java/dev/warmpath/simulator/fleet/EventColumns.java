package dev.warmpath.simulator.fleet;

import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import java.util.Arrays;

/**
 * The cache events of one engine that the index has not heard yet, in batches.
 *
 * <p>Single writer.
 */
final class EventColumns {

  /* One event: what it is and its blocks' count, the parent's name if it is a store behind one, the names. */

  private static final int AT_ROOT = 0;
  private static final int BEHIND = 1;
  private static final int REMOVED = 2;
  private static final int CLEARED = 3;
  private static final int BATCH_END = 4;

  private long[] events = new long[256];
  private int begin;
  private int end;
  private boolean open;
  private final StoredBlocks stored = new StoredBlocks();
  private final RemovedBlocks removed = new RemovedBlocks();

  private void add(long value) {
    if (end == events.length) {
      makeRoom();
    }
    events[end++] = value;
    open = true;
  }

  private void makeRoom() {
    int used = end - begin;
    long[] to = used > events.length / 2 ? new long[2 * events.length] : events;
    System.arraycopy(events, begin, to, 0, used);
    events = to;
    begin = 0;
    end = used;
  }

  /** {@code count} blocks at the beginning of a prompt were stored; their names follow. */
  void storedAtRoot(int count) {
    add((long) count << 3 | AT_ROOT);
  }

  /** {@code count} blocks behind another were stored; their names follow. */
  void storedBehind(long parent, int count) {
    add((long) count << 3 | BEHIND);
    add(parent);
  }

  void name(long name) {
    add(name);
  }

  void removed(long name) {
    add(1L << 3 | REMOVED);
    add(name);
  }

  void cleared() {
    add(CLEARED);
  }

  /** Ends a batch; returns whether there is anything in it. */
  boolean endBatch() {
    boolean any = open;
    if (any) {
      add(BATCH_END);
    }
    open = false;
    return any;
  }

  /** Forgets everything that was not heard. */
  void forget() {
    begin = 0;
    end = 0;
    open = false;
  }

  /** The index hears the oldest batch. */
  void hear(KvIndex index, int slot, long rootKey) {
    while (begin < end) {
      long event = events[begin++];
      int count = (int) (event >>> 3);
      switch ((int) (event & 7)) {
        case AT_ROOT -> {
          stored.atRoot(StorageTier.GPU, 0, rootKey);
          names(count);
          index.stored(slot, stored);
        }
        case BEHIND -> {
          stored.behind(StorageTier.GPU, 0, events[begin++]);
          names(count);
          index.stored(slot, stored);
        }
        case REMOVED -> hearRemoved(index, slot);
        case CLEARED -> index.cleared(slot);
        default -> {
          rewind();
          return;
        }
      }
    }
  }

  private void names(int count) {
    for (int i = 0; i < count; i++) {
      long name = events[begin++];
      stored.add(name, name); // a name stands for the whole prefix, and so does this local hash
    }
  }

  /** Removals that follow each other are one event of the index. */
  private void hearRemoved(KvIndex index, int slot) {
    removed.from(StorageTier.GPU, 0).add(events[begin++]);
    while (begin < end && events[begin] == (1L << 3 | REMOVED)) {
      removed.add(events[begin + 1]);
      begin += 2;
    }
    index.removed(slot, removed);
  }

  private void rewind() {
    if (begin == end) {
      begin = 0;
      end = 0;
      if (events.length > 1 << 16) {
        events = Arrays.copyOf(events, 256);
      }
    }
  }
}
