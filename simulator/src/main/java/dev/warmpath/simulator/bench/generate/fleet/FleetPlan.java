package dev.warmpath.simulator.bench.generate.fleet;

/**
 * The engines that serve a workload, and how they announce what they do.
 *
 * <p>Immutable.
 *
 * @param engines number of engines
 * @param capacityBlocks blocks that each of them can hold
 * @param storeBlocks the most blocks that one store record has
 * @param singleRemovals whether each evicted block has a record of its own, as vLLM does it
 * @param ownHashes whether each engine has its own engine hashes
 * @param holeShare the share of a request's blocks that its engine drops right after it, anywhere
 */
public record FleetPlan(
    int engines,
    int capacityBlocks,
    int storeBlocks,
    boolean singleRemovals,
    boolean ownHashes,
    double holeShare) {

  /** Engines that evict from the end only and share their hashes. */
  public static FleetPlan of(int engines, int capacityBlocks) {
    return new FleetPlan(engines, capacityBlocks, 64, false, false, 0);
  }

  public FleetPlan withSingleRemovals() {
    return new FleetPlan(engines, capacityBlocks, storeBlocks, true, ownHashes, holeShare);
  }

  public FleetPlan withOwnHashes() {
    return new FleetPlan(engines, capacityBlocks, storeBlocks, singleRemovals, true, holeShare);
  }

  public FleetPlan withHoles(double share) {
    return new FleetPlan(engines, capacityBlocks, storeBlocks, singleRemovals, ownHashes, share);
  }
}
