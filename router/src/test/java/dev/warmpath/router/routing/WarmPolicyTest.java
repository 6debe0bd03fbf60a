package dev.warmpath.router.routing;

import static dev.warmpath.router.routing.Fleets.busy;
import static dev.warmpath.router.routing.Fleets.draw;
import static dev.warmpath.router.routing.Fleets.of;
import static dev.warmpath.router.routing.Fleets.prompt;
import static dev.warmpath.router.routing.Fleets.with;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class WarmPolicyTest {

  private final Policy policy = new WarmPolicy(WarmPolicy.Weights.DEFAULT);

  @Test
  void isTheFormula() {
    PrefillCost cost = new PrefillCost(0.1, 0.001);
    Load load = new Load(4, 3, 500, 70, 100_000);
    Candidates candidates = of(new Fleets.Row("a", 800, load, cost, 3), with("b", 0, Load.NONE));

    Score score = policy.score(prompt(1000), candidates, 0);

    // T = 0.1·200 + 0.001·200·900 = 200; k = 1.5 + 2·1 + 1/2 + 0.03·1, by the median of 3
    // and 0, all of the most context in use and one stream; decode =
    // 0.25·4·(15 + 3.4e-5·100000)
    assertThat(score.terms())
        .extracting(Score.Term::name)
        .containsExactly("backlog_millis", "prefill_millis", "repeat_millis", "decode_millis");
    assertThat(score.total()).isEqualTo(70 + 5.03 * 200 + 18.4, within(1e-9));
  }

  @Test
  void anEngineWhoseStepsTakeLongerGetsFewer() {
    Load load = new Load(4, 0, 0, 0, 100_000);
    Candidates candidates = of(with("a", 0, load), with("b", 0, load));
    double before = policy.score(prompt(1000), candidates, 1).total();
    candidates.decoding(new DecodeCost(45, 1e-4)); // b
    assertThat(policy.score(prompt(1000), candidates, 1).total())
        .isEqualTo(before - 18.4 + 55, within(1e-9));
    assertThat(policy.choose(prompt(1000), candidates)).isZero();
  }

  @Test
  void paysWhatARequestDoesToOthersWhereThatIsSaid() {
    Candidates candidates = of(with("a", 800, Load.NONE), with("b", 0, Load.NONE));
    double before = policy.score(prompt(1000), candidates, 0).total();
    candidates.price(0, 300, 4);
    double prefill = candidates.prefillMillis(prompt(1000), 0);
    assertThat(policy.score(prompt(1000), candidates, 0).total())
        .isEqualTo(before + 300 + 4 * prefill, within(1e-9));
  }

  @Test
  void staysWarmWhileTheQueueIsShorterThanTheMiss() {
    // A miss of 1000 tokens costs 71 ms, half of it again, and as much again for each prompt
    // that waits at an engine, by the median of 4 and 0. Each in flight costs 3.75 ms.
    assertThat(winnerOverQueue(0, 100)).isEqualTo("warm");
    assertThat(winnerOverQueue(0, 115)).isEqualTo("cold");
    assertThat(winnerOverQueue(4, 225)).isEqualTo("warm");
    assertThat(winnerOverQueue(4, 245)).isEqualTo("cold");
  }

  private String winnerOverQueue(int waiting, double queuedMillis) {
    Candidates candidates =
        of(
            with("cold", 0, Load.NONE),
            with("warm", 1000, new Load(waiting, waiting, 1, queuedMillis, 0)));
    return candidates.name(policy.choose(prompt(1000), candidates));
  }

  @Test
  void aQueueAtOneEngineIsNoLoadOfTheFleet() {
    Candidates candidates =
        of(
            with("warm", 1000, new Load(100, 100, 1, 100, 0)),
            with("idle", 0, Load.NONE),
            with("other", 0, Load.NONE));
    assertThat(policy.choose(prompt(1000), candidates)).isNotZero();
  }

  @Test
  void saysWhetherTheCacheOrTheLoadDecided() {
    Candidates candidates = of(with("cold", 0, Load.NONE), with("warm", 900, Load.NONE));
    assertThat(policy.reason(prompt(1000), candidates, 1)).isEqualTo("cache");
    assertThat(policy.reason(prompt(1000), candidates, 0)).isEqualTo("load");
  }

  @Test
  void withoutThePromptOnlyLoadCounts() {
    Candidates candidates = of(with("held", 9000, new Load(2, 0, 0, 0, 0)), busy("free", 1));
    assertThat(policy.choose(draw(0), candidates)).isEqualTo(1);
    assertThat(policy.reason(draw(0), candidates, 0)).isEqualTo("load");
    assertThat(policy.score(draw(0), candidates, 0).total()).isEqualTo(0.25 * 2 * 15);
  }

  @Test
  void aBlockThatOnlyOneHoldsDoesNotHerd() {
    // One root block of 16 tokens is worth 1.1 ms, less than one request in flight.
    Candidates candidates =
        of(with("holder", 16, new Load(1, 0, 0, 0, 1000)), with("other", 0, Load.NONE));
    assertThat(policy.choose(prompt(1000), candidates)).isEqualTo(1);
  }

  @Test
  void longContextsInDecodeDoNotSwampPrefill() {
    // Ten streams of 100 K tokens cost 0.25·10·(15 + 34) = 122 ms; a miss of 100 K costs 17 s.
    Candidates candidates =
        of(with("holder", 99_000, new Load(10, 0, 0, 0, 1_000_000)), with("other", 0, Load.NONE));
    assertThat(policy.choose(prompt(100_000), candidates)).isZero();
  }

  @Test
  void aSlowReplicaIsPricedAsSlow() {
    PrefillCost slow = new PrefillCost(0.14, 4e-6);
    Candidates candidates =
        of(
            new Fleets.Row("slow", 0, Load.NONE, slow, Candidates.NEVER),
            with("fast", 0, new Load(0, 0, 500, 35, 0)));
    assertThat(policy.choose(prompt(1000), candidates)).isEqualTo(1);
  }

  @Test
  void creditBeyondThePromptIsNoGain() {
    assertThat(policy.score(prompt(1000), of(with("a", 2000, Load.NONE)), 0).total()).isZero();
  }

  @Test
  void refusesWeightsThatAreNone() {
    assertThatThrownBy(() -> new WarmPolicy.Weights(-1, 0, 0, 0, 0, 0))
        .hasMessage("missWeight=-1.0, must be from 0 to 1000000");
    assertThatThrownBy(() -> new WarmPolicy.Weights(0, 0, Double.NaN, 0, 0, 0))
        .hasMessageStartingWith("decodeWeight=NaN");
  }

  /** Ten chats take turns on the one engine that is used, which has room for five. */
  private WarmPolicy crowded() {
    WarmPolicy crowded = new WarmPolicy(WarmPolicy.Weights.DEFAULT);
    for (int turn = 0; turn < 200; turn++) {
      RoutingRequest request = at(Fleets.prompt(0, 50, 1, turn % 10), turn * 1e9);
      crowded.committed(request, rows(0, Load.NONE), 0);
    }
    return crowded;
  }

  private static Candidates rows(int credit, Load load) {
    return of(
        new Fleets.Row("full", credit, load, PrefillCost.DEFAULT, 1).capacity(4_000),
        new Fleets.Row("idle", 0, Load.NONE, PrefillCost.DEFAULT, 2).capacity(4_000));
  }

  private static RoutingRequest at(RoutingRequest request, double nanos) {
    return new RoutingRequest(
        request.promptTokens(), request.blocks(), null, 1, 0, Math.round(nanos));
  }

  @Test
  void whatAnEngineWouldEvictCostsTimeAgain() {
    WarmPolicy crowded = crowded();
    RoutingRequest next = at(Fleets.prompt(0, 50, 1, 77), 200e9);
    assertThat(crowded.score(next, rows(0, Load.NONE), 0).terms())
        .filteredOn(term -> term.name().equals("eviction_millis"))
        .singleElement()
        .satisfies(term -> assertThat(term.value()).isBetween(40.0, 58.0)); // T of up to 800
    // 160 tokens of it are worth less than the free memory
    assertThat(crowded.choose(next, rows(160, Load.NONE))).isEqualTo(1);
    assertThat(policy.choose(next, rows(160, Load.NONE))).isZero();
  }

  @Test
  void holdsWhatWouldEvictMoreThanHalfOfItThatIsNeededAgain() {
    WarmPolicy crowded = crowded();
    RoutingRequest next = at(Fleets.prompt(0, 50, 1, 77), 200e9);
    Load busy = new Load(4, 3, 1, 60_000, 0); // longer than half of all reuse takes to come
    assertThat(crowded.holds(next, rows(0, busy), 0, 0)).isTrue();
    assertThat(crowded.holds(next, rows(0, busy), 1, 0)).isFalse(); // free memory
    assertThat(crowded.holds(next, rows(760, busy), 0, 0)).isFalse(); // goes on at once
    assertThat(crowded.holds(next, rows(0, new Load(4, 3, 1, 60, 0)), 0, 0)).isFalse();
    assertThat(crowded.holds(next, rows(0, new Load(4, 3, 1, 60, 0)), 0, 1_000_000)).isTrue();
    assertThat(crowded.holds(next, rows(0, Load.NONE), 0, 1_000_000))
        .isFalse(); // nothing runs there
    assertThat(policy.holds(next, rows(0, busy), 0, 0)).isFalse(); // nothing is known
  }
}
