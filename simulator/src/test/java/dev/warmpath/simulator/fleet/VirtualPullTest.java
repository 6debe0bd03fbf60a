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

/** Engines of a virtual fleet that get what the host memory of others holds. */
class VirtualPullTest {

  private static Measures run(Trace trace, Link pull) {
    EngineConfig engine =
        new EngineConfig(
            KvCacheConfig.fullAttention(16, 1_000).withHost(4_000),
            8192,
            256,
            15_000,
            StepCost.H100X4);
    FleetPlan plan =
        FleetPlan.of(2, engine, IndexMode.NOW, () -> PolicySpec.make("round-robin"), 1)
            .with(new FleetPlan.Beyond(LoadBack.CHEAPEST, pull, null));
    return new VirtualFleet(plan, new Workload(trace, 1, 1, 1)).run(done -> {});
  }

  @Test
  void theOtherEngineGetsThePrefixInsteadOfComputingIt() {
    TraceBuilder trace = new TraceBuilder("two", 16);
    trace.request(0, Trace.NONE, Trace.NONE, 8_000, 5).blocks(0, 500);
    trace.request(60, 0, Trace.NONE, 8_000, 5).blocks(0, 500);
    Trace built = trace.build();

    Measures without = run(built, null);
    assertThat(without.engine(1)).isNotEqualTo(without.engine(0));
    assertThat(without.cachedTokens(1)).isZero();

    Measures with = run(built, new Link(3, 10));
    assertThat(with.engine(1)).isNotEqualTo(with.engine(0));
    assertThat(with.cachedTokens(1)).isEqualTo(7_984);
    assertThat(with.predictedTokens(1)).isEqualTo(7_984);
    double pull = 3 + 0.01 * 7_984;
    double rest = 15 + 0.07 * 16 + 2e-6 * 16 * 7_992;
    assertThat(with.firstMillis(1)).isEqualTo(pull + rest, within(0.1));
  }
}
