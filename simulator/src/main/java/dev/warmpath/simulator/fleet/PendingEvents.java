package dev.warmpath.simulator.fleet;

import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.simulator.engine.CachedSequence;
import java.util.Arrays;
import java.util.List;

/**
 * The cache events of one engine that the indexes have not heard yet, in batches.
 *
 * <p>Single writer.
 */
final class PendingEvents {

  /*
   * One event: what it is, its tier and its blocks' count; the parent's name if it is a store behind
   * one; the names.
   *
   *   0      3      4
   *   | kind | tier | count |
   */

  private static final int AT_ROOT = 0;
  private static final int BEHIND = 1;
  private static final int REMOVED = 2;
  private static final int CLEARED = 3;
  private static final int BATCH_END = 4;

  private static final StorageTier[] TIERS = {StorageTier.GPU, StorageTier.CPU};
  private static final int COUNT_SHIFT = 4;
  private static final int TIER_BIT = 1 << 3;
  private static final int KINDS = TIER_BIT - 1;

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

  /** Blocks {@code [from, to)} of a sequence were stored on the GPU or on its host. */
  void stored(StorageTier tier, CachedSequence sequence, int from, int to) {
    add(head(from == 0 ? AT_ROOT : BEHIND, tier, to - from));
    if (from > 0) {
      add(sequence.name(from - 1));
    }
    for (int block = from; block < to; block++) {
      add(sequence.name(block));
    }
  }

  void removed(StorageTier tier, long name) {
    add(head(REMOVED, tier, 1));
    add(name);
  }

  private static long head(int kind, StorageTier tier, int count) {
    return (long) count << COUNT_SHIFT | (tier == StorageTier.GPU ? 0 : TIER_BIT) | kind;
  }

  private static StorageTier tier(long head) {
    return TIERS[(head & TIER_BIT) == 0 ? 0 : 1];
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

  /** All routers' indexes hear the oldest batch. */
  void hear(List<VirtualRouter> routers, int slot, long rootKey) {
    while (begin < end) {
      long event = events[begin++];
      int count = (int) (event >>> COUNT_SHIFT);
      switch ((int) (event & KINDS)) {
        case AT_ROOT -> {
          stored.atRoot(tier(event), 0, rootKey);
          names(count);
          routers.forEach(router -> router.index.stored(slot, stored));
        }
        case BEHIND -> {
          stored.behind(tier(event), 0, events[begin++]);
          names(count);
          routers.forEach(router -> router.index.stored(slot, stored));
        }
        case REMOVED -> hearRemoved(routers, slot, event);
        case CLEARED -> routers.forEach(router -> router.index.cleared(slot));
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

  /** Removals from one tier that follow each other are one event of an index. */
  private void hearRemoved(List<VirtualRouter> routers, int slot, long head) {
    removed.from(tier(head), 0).add(events[begin++]);
    while (begin < end && events[begin] == head) {
      removed.add(events[begin + 1]);
      begin += 2;
    }
    routers.forEach(router -> router.index.removed(slot, removed));
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
