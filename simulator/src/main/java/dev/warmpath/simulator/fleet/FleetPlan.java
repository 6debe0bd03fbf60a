package dev.warmpath.simulator.fleet;

import dev.warmpath.router.fleet.KvTransfer;
import dev.warmpath.router.routing.LoadBack;
import dev.warmpath.router.routing.Policy;
import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.Link;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A fleet to run.
 *
 * @param engines how many, each of them a replica
 * @param engine what each is like
 * @param index what each router knows of them
 * @param policy makes a router's policy, which may remember
 * @param replicaRequests requests in flight at one replica; if all are full, requests wait
 * @param seed of the policies' draws
 * @param incidents in the order of their times
 * @param routers in front of them
 * @param pairs of them that serve a request together
 * @param loadBack whether they load what only their host memory holds
 * @param pull how they get what another one's host memory holds; null if they do not
 * @param store that all of them read; null for none
 */
public record FleetPlan(
    int engines,
    EngineConfig engine,
    IndexMode index,
    Supplier<Policy> policy,
    int replicaRequests,
    long seed,
    List<Incident> incidents,
    Routers routers,
    Pairs pairs,
    LoadBack loadBack,
    @Nullable Link pull,
    @Nullable Shared store) {

  /**
   * A store that all engines read.
   *
   * @param blocks for which it has room
   * @param publishes whether routers hear of what it drops
   */
  public record Shared(int blocks, boolean publishes) {}

  /** The router's default. */
  public static final int REPLICA_REQUESTS = 4096;

  public FleetPlan {
    if (engines < 1 || pairs.prefills() >= engines) {
      throw new IllegalArgumentException("engines=" + engines + " prefills=" + pairs.prefills());
    }
    if (pull != null && pairs.isOn()) {
      throw new IllegalArgumentException("pull=" + pull + " pairs=" + pairs);
    }
    incidents = List.copyOf(incidents);
  }

  /** A fleet that loads what is cheaper to load than to compute. */
  public FleetPlan(
      int engines,
      EngineConfig engine,
      IndexMode index,
      Supplier<Policy> policy,
      int replicaRequests,
      long seed,
      List<Incident> incidents,
      Routers routers,
      Pairs pairs) {
    this(
        engines,
        engine,
        index,
        policy,
        replicaRequests,
        seed,
        incidents,
        routers,
        pairs,
        LoadBack.CHEAPEST,
        null,
        null);
  }

  /** A fleet behind one router, to which nothing happens. */
  public static FleetPlan of(
      int engines, EngineConfig engine, IndexMode index, Supplier<Policy> policy, long seed) {
    return new FleetPlan(
        engines, engine, index, policy, REPLICA_REQUESTS, seed, List.of(), Routers.ONE, Pairs.NONE);
  }

  /** The same fleet behind these routers. */
  public FleetPlan behind(Routers others) {
    return new FleetPlan(
        engines,
        engine,
        index,
        policy,
        replicaRequests,
        seed,
        incidents,
        others,
        pairs,
        loadBack,
        pull,
        store);
  }

  /** The same fleet whose engines serve requests together in these pairs. */
  public FleetPlan with(Pairs others) {
    return new FleetPlan(
        engines,
        engine,
        index,
        policy,
        replicaRequests,
        seed,
        incidents,
        routers,
        others,
        loadBack,
        pull,
        store);
  }

  /** The same fleet that decides so about loads. */
  public FleetPlan with(LoadBack rule) {
    return new FleetPlan(
        engines,
        engine,
        index,
        policy,
        replicaRequests,
        seed,
        incidents,
        routers,
        pairs,
        rule,
        pull,
        store);
  }

  /** The same fleet whose engines get from each other over this, if it is not null. */
  public FleetPlan pulling(@Nullable Link link) {
    return new FleetPlan(
        engines,
        engine,
        index,
        policy,
        replicaRequests,
        seed,
        incidents,
        routers,
        pairs,
        loadBack,
        link,
        store);
  }

  /** The same fleet whose engines share this store, if it is not null. */
  public FleetPlan sharing(@Nullable Shared other) {
    return new FleetPlan(
        engines,
        engine,
        index,
        policy,
        replicaRequests,
        seed,
        incidents,
        routers,
        pairs,
        loadBack,
        pull,
        other);
  }

  /** What an engine's replica says of itself. */
  KvTransfer transfer(int number) {
    return pull == null
        ? pairs.transfer(number)
        : new KvTransfer(KvTransfer.Role.BOTH, KvTransfer.Connector.OFFLOADING, "", "", 0, 0, true);
  }
}
