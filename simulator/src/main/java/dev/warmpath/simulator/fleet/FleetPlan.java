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

  /**
   * Something that happens to an engine while a fleet runs.
   *
   * @param seconds when, since the run began
   * @param engine its number; from the number of the fleet's engines on for those that join;
   *     without effect where the kind chooses
   * @param factor how many times slower it is from then on, for {@link Kind#SLOW}
   */
  public record Incident(double seconds, int engine, Kind kind, double factor) {

    /** What happens. */
    public enum Kind {
      /** Its process ends: what it serves fails, its cache is gone, its health checks fail. */
      FAIL,
      /** It is there again, or for the first time: well, empty, at its usual speed. */
      RECOVER,
      /** It is slower from now on. */
      SLOW,
      /** It gets no new requests, and is gone for good when those it has are over. */
      LEAVE,
      /** The same, of the one that is of least worth to the first router, whichever it is. */
      LEAST_WORTH_LEAVES,
      /** The same, of the one of most worth. */
      MOST_WORTH_LEAVES,
      /** It comes to the fleet, with nothing in its cache; it was not there before. */
      JOIN,
      /** The same, and the first router lets it compute first what sessions share. */
      JOIN_WARM,
      /** Its events are not heard any more, and nobody notices. */
      DEAF,
      /** It refuses each request at once with an error of its own. */
      BLACK_HOLE,
      /** The router forgets what it knew of it, as after a start without a snapshot. */
      FORGOTTEN
    }

    /** Whether an engine comes to the fleet that was not there. */
    boolean joins() {
      return kind == Kind.JOIN || kind == Kind.JOIN_WARM;
    }

    public Incident {
      if (!(seconds >= 0) || engine < 0 || !(factor > 0)) {
        throw new IllegalArgumentException(
            "seconds=" + seconds + " engine=" + engine + " factor=" + factor);
      }
    }

    public static Incident of(double seconds, int engine, Kind kind) {
      return new Incident(seconds, engine, kind, 1);
    }
  }
}
