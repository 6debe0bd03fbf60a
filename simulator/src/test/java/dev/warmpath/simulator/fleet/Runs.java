package dev.warmpath.simulator.fleet;

import dev.warmpath.router.routing.Policies;
import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.KvCacheConfig;
import dev.warmpath.simulator.engine.StepCost;
import dev.warmpath.simulator.fleet.FleetPlan.Incident;
import dev.warmpath.simulator.trace.Trace;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Runs of small fleets, and what came of them. */
final class Runs {

  private Runs() {}

  static EngineConfig engine(int blockSizeTokens, int blocks) {
    KvCacheConfig cache = KvCacheConfig.fullAttention(blockSizeTokens, blocks);
    return new EngineConfig(cache, 8192, 256, cache.maxSequenceTokens(), StepCost.H100X4);
  }

  /** An engine with a host tier. */
  static EngineConfig engine(int blockSizeTokens, int blocks, int hostBlocks) {
    EngineConfig plain = engine(blockSizeTokens, blocks);
    return new EngineConfig(
        plain.cache().withHost(hostBlocks),
        plain.stepTokens(),
        plain.runningSequences(),
        plain.maxModelTokens(),
        plain.cost());
  }

  static Outcome run(String policy, Trace trace, int engines, int blocks, Incident... incidents) {
    return run(policy, trace, engines, blocks, IndexMode.NOW, incidents);
  }

  static Outcome run(
      String policy, Trace trace, int engines, int blocks, IndexMode index, Incident... incidents) {
    return run(policy, trace, engines, engine(trace.blockSizeTokens(), blocks), index, incidents);
  }

  static Outcome run(
      String policy,
      Trace trace,
      int engines,
      EngineConfig engine,
      IndexMode index,
      Incident... incidents) {
    return run(policy, trace, engines, engine, index, Routers.ONE, incidents);
  }

  static Outcome run(
      String policy,
      Trace trace,
      int engines,
      EngineConfig engine,
      IndexMode index,
      Routers routers,
      Incident... incidents) {
    return run(policy, trace, engines, engine, index, routers, Pairs.NONE, incidents);
  }

  static Outcome run(
      String policy,
      Trace trace,
      int engines,
      EngineConfig engine,
      IndexMode index,
      Routers routers,
      Pairs pairs,
      Incident... incidents) {
    FleetPlan plan =
        new FleetPlan(
            engines,
            engine,
            index,
            () -> Policies.named(policy, Map.of()),
            FleetPlan.QUEUE_MILLIS,
            1,
            List.of(incidents),
            routers,
            pairs,
            FleetPlan.Beyond.HOST);
    Workload workload = new Workload(trace, 1, 1, 1);
    return new Outcome(new VirtualFleet(plan, workload).run(arrivals -> {}), engines);
  }

  /** What became of a run's requests. */
  record Outcome(Measures measures, int engines) {

    private IntStream served() {
      return IntStream.range(0, measures.requests())
          .filter(request -> !Double.isNaN(measures.firstMillis(request)));
    }

    int answered() {
      return (int) served().count();
    }

    double meanMillis() {
      return served().mapToDouble(measures::firstMillis).average().orElse(Double.NaN);
    }

    double hitRate() {
      double cached = served().mapToLong(measures::cachedTokens).sum();
      return cached / served().mapToLong(measures::promptTokens).sum();
    }

    long hostTokens() {
      return served().mapToLong(measures::hostTokens).sum();
    }

    long computedTokens() {
      return served()
          .mapToLong(request -> measures.promptTokens(request) - measures.cachedTokens(request))
          .sum();
    }

    /** Requests of each engine. */
    int[] requests() {
      int[] requests = new int[engines];
      served().forEach(request -> requests[measures.engine(request)]++);
      return requests;
    }

    /** The most requests of an engine, over their mean. */
    double imbalance() {
      int[] requests = requests();
      return IntStream.of(requests).max().orElse(0)
          / Math.max(1, IntStream.of(requests).average().orElse(1));
    }
  }
}
