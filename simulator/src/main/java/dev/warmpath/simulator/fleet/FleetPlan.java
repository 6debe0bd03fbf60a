package dev.warmpath.simulator.fleet;

import dev.warmpath.router.routing.Policy;
import dev.warmpath.simulator.engine.EngineConfig;
import java.util.List;

/**
 * A fleet to run.
 *
 * @param engines how many, each of them a replica
 * @param engine what each is like
 * @param index what the router knows of them
 * @param policy how it chooses; a new one for each run, for it may remember
 * @param replicaRequests requests in flight at one replica; if all are full, requests wait
 * @param seed of the policy's draws
 * @param incidents in the order of their times
 */
public record FleetPlan(
    int engines,
    EngineConfig engine,
    IndexMode index,
    Policy policy,
    int replicaRequests,
    long seed,
    List<Incident> incidents) {

  /** The router's default. */
  public static final int REPLICA_REQUESTS = 4096;

  public FleetPlan {
    if (engines < 1) {
      throw new IllegalArgumentException("engines=" + engines);
    }
    incidents = List.copyOf(incidents);
  }

  /** A fleet to which nothing happens. */
  public static FleetPlan of(
      int engines, EngineConfig engine, IndexMode index, Policy policy, long seed) {
    return new FleetPlan(engines, engine, index, policy, REPLICA_REQUESTS, seed, List.of());
  }
}
