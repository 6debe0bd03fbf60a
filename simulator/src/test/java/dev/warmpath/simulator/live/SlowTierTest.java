package dev.warmpath.simulator.live;

import static dev.warmpath.simulator.live.LiveFleet.CACHED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.Environment;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A router before an engine with a host tier, over real sockets. */
@Timeout(120)
class SlowTierTest {

  private static final int PROMPTS = 6; // of which the GPU holds two

  @ParameterizedTest
  @ValueSource(strings = {"always", "never", "cheapest"})
  void whatItReportsIsWhatTheRouterDecided(String rule) throws Exception {
    try (LiveFleet fleet = new LiveFleet()) {
      fleet.engine(LiveFleet.cache().withHost(4_000), 0.1);
      fleet.start(
          LiveFleet.config()
              .set("policy.load-back", rule, "test")
              .put("replicas", fleet.replica(0), "test")
              .config(),
          Environment.ofTheMachine());
      int reported = 0;
      for (int round = 0; round < 3; round++) {
        reported += fleet.round(PROMPTS, "").stream().mapToInt(cached -> cached).sum();
      }
      allExact(fleet);
      double computed = fleet.slowTokens("computed");
      double loaded = fleet.slowTokens("loaded");
      assertThat(loaded + computed).isEqualTo(2.0 * PROMPTS * CACHED);
      assertThat(reported).isEqualTo((int) loaded);
      switch (rule) {
        case "always" -> assertThat(computed).isZero();
        case "never" -> assertThat(loaded).isEqualTo(CACHED); // the first that shows a tier
        default -> assertThat(loaded).isPositive();
      }

      // a client that says itself how much is loaded is not overruled, nor judged
      assertThat(fleet.cached(0, ",\"kv_transfer_params\":{\"max_load_tokens\":160}"))
          .isEqualTo(160);
      allExact(fleet);
    }
  }

  private static void allExact(LiveFleet fleet) {
    assertThat(fleet.predictions("exact")).isEqualTo(3.0 * PROMPTS);
    assertThat(fleet.predictions("over")).isZero();
    assertThat(fleet.predictions("under")).isZero();
  }
}
