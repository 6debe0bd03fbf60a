package dev.warmpath.router.routing;

import static dev.warmpath.router.routing.Fleets.of;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class PreblePolicyTest {

  private static final long SECOND = 1_000_000_000L;

  private final PreblePolicy policy = new PreblePolicy();

  @Test
  void exploitsACacheOfMoreThanHalf() {
    policy.committed(at(0, 160), two(0, 0), 0);
    Candidates half = two(80, 0);
    assertThat(policy.choose(at(0, 160), half)).as("L 160 + P 80 against P 160").isEqualTo(1);
    assertThat(policy.reason(at(0, 160), half, 1)).isEqualTo("load");
    Candidates more = two(96, 0);
    assertThat(policy.choose(at(0, 160), more)).as("whatever its load").isZero();
    assertThat(policy.reason(at(0, 160), more, 0)).isEqualTo("cache");
  }

  @Test
  void takesTheLeastLoadedHolderOfTheLongestMatch() {
    Candidates three = of(row("a", 144), row("b", 144), row("c", 128));
    policy.committed(at(0, 160), three, 0);
    assertThat(policy.choose(at(0, 160), three)).isEqualTo(1);
  }

  @Test
  void exploringAddsLoadEvictionAndPrefill() {
    policy.committed(at(0, 160), two(40, 0), 0); // computes 120 of 160 tokens, serves a quarter
    assertThat(policy.score(at(0, 100), two(20, 0), 0).terms())
        .containsExactly(
            Score.term("load_millis", 120),
            Score.term("eviction_millis", 20),
            Score.term("prefill_millis", 80));
    assertThat(policy.score(at(0, 100), two(20, 0), 1).total()).isEqualTo(100);
  }

  @Test
  void loadCountsForThreeMinutes() {
    policy.committed(at(7 * SECOND, 160), two(0, 0), 0);
    policy.committed(at(100 * SECOND, 160), two(0, 0), 0);
    assertThat(load(100)).isEqualTo(320);
    assertThat(load(179)).isEqualTo(320);
    assertThat(load(180)).as("its part of fifteen seconds is over").isEqualTo(160);
    assertThat(load(269)).isEqualTo(160);
    assertThat(load(270)).isZero();
    policy.committed(at(1000 * SECOND, 160), two(0, 0), 0);
    assertThat(load(1000)).isEqualTo(160, within(1e-9));
  }

  private double load(int second) {
    return policy.score(at(second * SECOND, 160), two(0, 0), 0).terms().get(0).value();
  }

  @Test
  void remembersEachEngineByItsNumber() {
    policy.committed(at(0, 160), of(row("a", 0), row("b", 0)), 1);
    Candidates grown = of(row("a", 0), row("b", 0), row("c", 0));
    assertThat(policy.score(at(0, 160), grown, 1).total()).isEqualTo(320);
    assertThat(policy.score(at(0, 160), grown, 2).total()).isEqualTo(160);
  }

  private static Candidates two(int creditA, int creditB) {
    return of(row("a", creditA), row("b", creditB));
  }

  /** An engine that needs a millisecond for each token. */
  private static Fleets.Row row(String name, int credit) {
    return new Fleets.Row(name, credit, Load.NONE, new PrefillCost(1, 0), Candidates.NEVER);
  }

  private static RoutingRequest at(long nanos, int tokens) {
    return new RoutingRequest(tokens, PromptBlocks.NONE, null, 0, 0, nanos);
  }
}
