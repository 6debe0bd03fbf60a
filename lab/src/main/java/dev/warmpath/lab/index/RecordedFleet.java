package dev.warmpath.lab.index;

import dev.warmpath.kvindex.CacheGroup;
import java.util.List;

/**
 * The engines that serve a workload, and how what they do is recorded.
 *
 * @param engines number of engines
 * @param groups of each engine's cache
 * @param capacityBlocks full blocks that each engine can hold, of all groups
 * @param singleRemovals whether each evicted block has a record of its own, as vLLM does it
 * @param ownHashes whether each engine has its own engine hashes
 * @param lostShare the share of a request's blocks that its engine loses right after it, anywhere
 * @param ballastFamilies chains of blocks that no request wants and no engine evicts
 */
record RecordedFleet(
    int engines,
    List<CacheGroup> groups,
    int capacityBlocks,
    boolean singleRemovals,
    boolean ownHashes,
    double lostShare,
    int ballastFamilies) {

  RecordedFleet {
    groups = List.copyOf(groups);
  }

  /** Engines with one group that evict from the end only and share their hashes. */
  static RecordedFleet of(int engines, int capacityBlocks) {
    return new RecordedFleet(
        engines, SerialEngine.fullAttention(), capacityBlocks, false, false, 0, 0);
  }

  /** Engines of a hybrid model, with so many blocks for each of two groups. */
  static RecordedFleet hybrid(int engines, int groupBlocks, int windowBlocks) {
    return new RecordedFleet(
        engines, SerialEngine.hybrid(windowBlocks), 2 * groupBlocks, false, false, 0, 0);
  }

  RecordedFleet withSingleRemovals() {
    return new RecordedFleet(
        engines, groups, capacityBlocks, true, ownHashes, lostShare, ballastFamilies);
  }

  RecordedFleet withOwnHashes() {
    return new RecordedFleet(
        engines, groups, capacityBlocks, singleRemovals, true, lostShare, ballastFamilies);
  }

  RecordedFleet losing(double share) {
    return new RecordedFleet(
        engines, groups, capacityBlocks, singleRemovals, ownHashes, share, ballastFamilies);
  }

  RecordedFleet withBallast(int families) {
    return new RecordedFleet(
        engines, groups, capacityBlocks, singleRemovals, ownHashes, lostShare, families);
  }
}
