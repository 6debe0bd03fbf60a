package dev.warmpath.eventingest;

/**
 * An engine: one data-parallel rank of a replica, the owner of one KV cache and one event stream.
 *
 * @param replica name of the replica in the fleet
 * @param dpRank data-parallel rank, 0 for engines without data parallelism
 */
public record EngineId(String replica, int dpRank) {

  public EngineId {
    if (replica.isEmpty()) {
      throw new IllegalArgumentException("replica is empty");
    }
    if (dpRank < 0) {
      throw new IllegalArgumentException("dpRank=" + dpRank);
    }
  }

  @Override
  public String toString() {
    return replica + "/" + dpRank;
  }
}
