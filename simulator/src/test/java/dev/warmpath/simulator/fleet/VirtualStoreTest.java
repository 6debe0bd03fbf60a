package dev.warmpath.simulator.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.router.routing.LoadBack;
import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.KvCacheConfig;
import dev.warmpath.simulator.engine.Link;
import dev.warmpath.simulator.engine.StepCost;
import dev.warmpath.simulator.trace.Trace;
import dev.warmpath.simulator.trace.TraceBuilder;
import org.junit.jupiter.api.Test;

/** Engines of a virtual fleet that share a store. */
final class VirtualStoreTest {

  private static Measures run(Trace trace, FleetPlan.Shared store) {
    EngineConfig engine =
        new EngineConfig(KvCacheConfig.fullAttention(16, 1_000), 8192, 256, 15_000, StepCost.H100X4)
            .with(new Link(3, 10));
    FleetPlan plan =
        FleetPlan.of(2, engine, IndexMode.NOW, () -> PolicySpec.make("round-robin"), 1)
            .with(new FleetPlan.Beyond(LoadBack.ALWAYS, null, store));
    return new VirtualFleet(plan, new Workload(trace, 1, 1, 1)).run(done -> {});
  }

  private static Trace twice() {
    TraceBuilder trace = new TraceBuilder("two", 16);
    trace.request(0, Trace.NONE, Trace.NONE, 8_000, 5).blocks(0, 500);
    trace.request(60, 0, Trace.NONE, 8_000, 5).blocks(0, 500);
    return trace.build();
  }

  @Test
  void theOtherEngineLoadsInsteadOfComputing() {
    Measures without = run(twice(), null);
    assertThat(without.cachedTokens(1)).isZero();

    Measures with = run(twice(), new FleetPlan.Shared(10_000, true));
    assertThat(with.engine(1)).isNotEqualTo(with.engine(0));
    assertThat(with.cachedTokens(1)).isEqualTo(7_984);
    assertThat(with.predictedTokens(1)).isEqualTo(7_984);
    double load = 3 + 0.01 * 7_984;
    double rest = 15 + 0.07 * 16 + 2e-6 * 16 * 7_992;
    assertThat(with.firstMillis(1)).isEqualTo(load + rest, within(0.1));
  }

  /** It has no room for the prompt's end, which a router hears, or not. */
  @Test
  void nobodyPredictsWhatNobodyHears() {
    Measures published = run(twice(), new FleetPlan.Shared(400, true));
    assertThat(published.cachedTokens(1)).isEqualTo(published.predictedTokens(1));
    Measures silent = run(twice(), new FleetPlan.Shared(400, false));
    assertThat(silent.cachedTokens(1)).isEqualTo(published.cachedTokens(1));
    assertThat(silent.predictedTokens(1)).as("none").isNegative();
  }
}
