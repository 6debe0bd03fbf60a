package dev.warmpath.eventingest.apply;

import dev.warmpath.eventingest.count.StreamCounter;
import dev.warmpath.eventingest.count.StreamCounters;
import dev.warmpath.eventingest.wire.decode.EventColumns;
import dev.warmpath.eventingest.wire.decode.EventRow;
import dev.warmpath.eventingest.wire.decode.EventRow.Kind;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;

/**
 * Takes out of the index what one engine says that it removed.
 *
 * <p>Confined to the writer.
 */
final class Removals {

  private final KvIndex index;
  private final int slot;
  private final GroupTable groups;
  private final StreamCounters counters;
  private final RemovedBlocks removed = new RemovedBlocks();
  private long blocks;

  Removals(KvIndex index, int slot, GroupTable groups, StreamCounters counters) {
    this.index = index;
    this.slot = slot;
    this.groups = groups;
    this.counters = counters;
  }

  /**
   * Applies a removal and those right behind it from the same place: vLLM announces each block by
   * itself. Their hashes lie side by side.
   *
   * @return the last event of these
   */
  int apply(EventColumns batch, int first) {
    EventRow removal = batch.row(first);
    int last = first;
    int count = removal.hashCount();
    while (last + 1 < batch.events() && goesOn(removal, batch.row(last + 1))) {
      count += batch.row(++last).hashCount();
    }
    blocks += count;
    StorageTier tier = removal.tier();
    if (tier != null) {
      remove(batch, removal, tier, count);
    }
    return last;
  }

  /** Adds the blocks removed since the last call to the counters. */
  void flushCounters() {
    counters.add(StreamCounter.BLOCKS_REMOVED, blocks);
    blocks = 0;
    removed.trim();
  }

  private void remove(EventColumns batch, EventRow removal, StorageTier tier, int count) {
    int group = removal.place().groupIdx();
    if (tier == StorageTier.GPU && !groups.describes(group)) {
      counters.add(StreamCounter.UNKNOWN_GROUP_REMOVALS, count);
    }
    removed.from(tier, group);
    index.removed(slot, removed.addAll(batch.hashes(), removal.hashFrom(), count));
  }

  private static boolean goesOn(EventRow removal, EventRow next) {
    return next.kind() == Kind.REMOVED && next.place().equals(removal.place());
  }
}
