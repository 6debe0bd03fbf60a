package dev.warmpath.simulator.fleet;

import dev.warmpath.router.fleet.KvTransfer;
import dev.warmpath.router.routing.LoadBack;
import dev.warmpath.router.routing.Policy;
import dev.warmpath.simulator.engine.CostModel;
import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.Link;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A fleet to run.
 *
 * @param engines how many, each of them a replica
 * @param engine what each is like, but for its speed
 * @param costs the speeds of the engines, in turn
 * @param index what each router knows of them
 * @param policy makes a router's policy, which may remember
 * @param queueMillis a request that has waited so long at a router is refused
 * @param seed of the policies' draws
 * @param incidents in the order of their times
 * @param routers in front of them
 * @param pairs of them that serve a request together
 * @param beyond what an engine gets from elsewhere than its own GPU
 */
public record FleetPlan(
    int engines,
    EngineConfig engine,
    List<CostModel> costs,
    IndexMode index,
    Supplier<Policy> policy,
    long queueMillis,
    long seed,
    List<Incident> incidents,
    Routers routers,
    Pairs pairs,
    Beyond beyond) {

  /** The router's default. */
  public static final long QUEUE_MILLIS = 30_000;

  /**
   * KV that an engine has not in its GPU.
   *
   * @param loadBack whether engines load what only their host memory holds
   * @param pull how they get what another one's host memory holds; null if they do not
   * @param store that all of them read; null for none
   */
  public record Beyond(LoadBack loadBack, @Nullable Link pull, @Nullable Shared store) {

    /** Only the own host memory, whose content is loaded where that is cheaper than to compute. */
    public static final Beyond HOST = new Beyond(LoadBack.CHEAPEST, null, null);
  }

  /**
   * A store that all engines read.
   *
   * @param blocks for which it has room
   * @param publishes whether routers hear of what it drops
   */
  public record Shared(int blocks, boolean publishes) {}

  public FleetPlan {
    if (costs.isEmpty()) {
      throw new IllegalArgumentException("costs=" + costs);
    }
    if (engines < 1 || pairs.prefills() >= engines) {
      throw new IllegalArgumentException("engines=" + engines + " prefills=" + pairs.prefills());
    }
    if (beyond.pull != null && pairs.isOn()) {
      throw new IllegalArgumentException("pull=" + beyond.pull + " pairs=" + pairs);
    }
    incidents = List.copyOf(incidents);
    costs = List.copyOf(costs);
  }

  /** Engines that are all as fast. */
  public FleetPlan(
      int engines,
      EngineConfig engine,
      IndexMode index,
      Supplier<Policy> policy,
      long queueMillis,
      long seed,
      List<Incident> incidents,
      Routers routers,
      Pairs pairs,
      Beyond beyond) {
    this(
        engines,
        engine,
        List.of(engine.cost()),
        index,
        policy,
        queueMillis,
        seed,
        incidents,
        routers,
        pairs,
        beyond);
  }

  /** A fleet behind one router, to which nothing happens. */
  public static FleetPlan of(
      int engines, EngineConfig engine, IndexMode index, Supplier<Policy> policy, long seed) {
    return new FleetPlan(
        engines,
        engine,
        index,
        policy,
        QUEUE_MILLIS,
        seed,
        List.of(),
        Routers.ONE,
        Pairs.NONE,
        Beyond.HOST);
  }

  /** The same fleet whose engines have this beyond their GPUs. */
  public FleetPlan with(Beyond other) {
    return new FleetPlan(
        engines, engine, costs, index, policy, queueMillis, seed, incidents, routers, pairs, other);
  }

  /** Engines that are there at any time. */
  public int mostEngines() {
    return incidents.stream()
        .filter(Incident::joins)
        .mapToInt(incident -> incident.engine() + 1)
        .reduce(engines, Math::max);
  }

  /** Whether an engine joins that is to compute first what sessions share. */
  boolean prewarms() {
    return incidents.stream().anyMatch(each -> each.kind() == Incident.Kind.JOIN_WARM);
  }

  /** What an engine's replica says of itself. */
  KvTransfer transfer(int number) {
    return beyond.pull == null
        ? pairs.transfer(number)
        : new KvTransfer(KvTransfer.Role.BOTH, KvTransfer.Connector.OFFLOADING, "", "", 0, 0, true);
  }
}
