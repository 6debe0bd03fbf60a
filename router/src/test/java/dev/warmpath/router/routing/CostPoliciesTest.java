package dev.warmpath.router.routing;

import static dev.warmpath.router.routing.Fleets.busy;
import static dev.warmpath.router.routing.Fleets.holder;
import static dev.warmpath.router.routing.Fleets.of;
import static dev.warmpath.router.routing.Fleets.prompt;
import static dev.warmpath.router.routing.Fleets.queued;
import static dev.warmpath.router.routing.Fleets.requests;
import static dev.warmpath.router.routing.Fleets.with;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

/** The policies of one number for each candidate, on numbers worked out by hand. */
class CostPoliciesTest {

  private static final RoutingRequest PROMPT = prompt(160); // ten blocks

  @Test
  void llmdWeightedSumsPrefixKvUseAndQueue() {
    Policy policy = new LlmdWeightedPolicy(LlmdWeightedPolicy.Weights.DEFAULT);
    Candidates candidates =
        of(
            with("a", 80, new Load(4, 4, 0, 0, 500)).capacity(1000),
            with("b", 0, new Load(2, 1, 0, 0, 250)).capacity(1000),
            with("c", 16, new Load(1, 0, 0, 0, 900)).capacity(1000));
    assertThat(policy.score(PROMPT, candidates, 0).terms())
        .containsExactly(
            Score.term("prefix", -1.5), Score.term("kv_use", -1.0), Score.term("queue", -0.0));
    assertThat(policy.score(PROMPT, candidates, 1).terms())
        .containsExactly(
            Score.term("prefix", -0.0), Score.term("kv_use", -1.5), Score.term("queue", -1.5));
    assertThat(policy.score(PROMPT, candidates, 2).total()).isEqualTo(-0.3 - 0.2 - 2, within(1e-9));
    assertThat(policy.choose(PROMPT, candidates)).isEqualTo(1);
    assertThat(policy.reason(PROMPT, candidates, 1)).isEqualTo("load");
  }

  @Test
  void llmdWeightedScoresEqualQueuesOne() {
    Policy policy = new LlmdWeightedPolicy(new LlmdWeightedPolicy.Weights(3, 0, 2));
    Candidates candidates = of(queueOf("a", 0, 3), queueOf("b", 160, 3));
    assertThat(policy.score(PROMPT, candidates, 0).total()).isEqualTo(-2);
    assertThat(policy.choose(PROMPT, candidates)).isEqualTo(1);
    assertThat(policy.reason(PROMPT, candidates, 1)).isEqualTo("cache");
  }

  private static Fleets.Row queueOf(String name, int credit, int waiting) {
    return with(name, credit, new Load(waiting, waiting, 0, 0, 0));
  }

  @Test
  void kvUseIsByTheLargestContextWhereCapacityIsUnknown() {
    Candidates candidates =
        of(
            with("a", 0, new Load(1, 0, 0, 0, 400)),
            with("b", 0, new Load(1, 0, 0, 0, 800)),
            with("c", 0, new Load(1, 0, 0, 0, 200)).capacity(100),
            busy("d", 0));
    assertThat(candidates.kvUse(0)).isEqualTo(0.5);
    assertThat(candidates.kvUse(1)).isEqualTo(1);
    assertThat(candidates.kvUse(2)).isEqualTo(1);
    assertThat(candidates.kvUse(3)).isZero();
  }

  @Test
  void dynamoAddsBlocksToPrefillAndToDecode() {
    Policy policy = new DynamoPolicy(DynamoPolicy.Weights.DEFAULT);
    Candidates candidates =
        of(
            with("a", 0, new Load(1, 1, 32, 0, 160)).cached(96, 32, 32),
            with("b", 160, new Load(2, 0, 0, 0, 480)),
            busy("c", 1));
    assertThat(policy.score(PROMPT, candidates, 0).terms())
        .containsExactly( // (32 + 160)/16 − 2 − 0.75·2 − 0.25·2, 10 + 10
            Score.term("prefill_blocks", 8), Score.term("decode_blocks", 20));
    assertThat(policy.score(PROMPT, candidates, 1).terms())
        .containsExactly(Score.term("prefill_blocks", 0), Score.term("decode_blocks", 40));
    assertThat(policy.score(PROMPT, candidates, 2).total()).isEqualTo(20);
    assertThat(policy.choose(PROMPT, candidates)).isEqualTo(2);
  }

  @Test
  void dynamoCreditsLessBehindALongerQueue() {
    Candidates candidates = of(with("a", 160, queued(1, 160)), busy("b", 0));
    Policy decaying = new DynamoPolicy(new DynamoPolicy.Weights(1, 1, 1));
    // One prompt more is queued: half of the ten blocks count.
    assertThat(decaying.score(PROMPT, candidates, 0).total()).isEqualTo(20 - 5 + 10);
    Policy plain = new DynamoPolicy(DynamoPolicy.Weights.DEFAULT);
    assertThat(plain.score(PROMPT, candidates, 0).total()).isEqualTo(20 - 10 + 10);
  }

  @Test
  void dynamoNeverGoesBelowNoPrefill() {
    Policy policy = new DynamoPolicy(new DynamoPolicy.Weights(2, 3, 0));
    assertThat(policy.score(PROMPT, of(holder("a", 160, 0)), 0).total()).isEqualTo(10);
  }

  @Test
  void conductorTakesTheShortestTimeToTheFirstToken() {
    Policy policy = new ConductorPolicy();
    PrefillCost cost = new PrefillCost(1, 0);
    Candidates candidates =
        of(
            new Fleets.Row("held", 100, new Load(1, 1, 1, 100, 0), cost, 0),
            new Fleets.Row("free", 0, Load.NONE, cost, 1));
    assertThat(policy.score(PROMPT, candidates, 0).total()).isEqualTo(160);
    assertThat(policy.choose(PROMPT, candidates)).as("equal: longer ago").isZero();
    Candidates longer =
        of(
            new Fleets.Row("held", 100, new Load(1, 1, 1, 100.5, 0), cost, 0),
            new Fleets.Row("free", 0, Load.NONE, cost, 1));
    assertThat(policy.choose(PROMPT, longer)).isEqualTo(1);
  }

  @Test
  void lmetricTakesTheLowestProduct() {
    Policy policy = new LmetricPolicy();
    // (0 + 60)·3 = 180 against (10 + 160)·1 = 170
    Candidates candidates = of(holder("a", 100, 2), with("b", 0, new Load(0, 0, 10, 0, 0)));
    assertThat(policy.score(PROMPT, candidates, 0).total()).isEqualTo(180);
    assertThat(policy.choose(PROMPT, candidates)).isEqualTo(1);
    assertThat(policy.choose(PROMPT, of(holder("a", 110, 2), busy("b", 0)))).isZero();
  }

  @Test
  void lmetricBreaksTiesByTokensThenRequestsThenTurns() {
    Policy policy = new LmetricPolicy();
    Candidates tokens = of(busy("a", 0), holder("b", 80, 1), with("c", 0, requests(0)).turn(3));
    assertThat(policy.choose(PROMPT, tokens)).as("160·1 and 80·2").isEqualTo(1);
    Candidates free = of(holder("a", 160, 2), holder("b", 160, 1));
    assertThat(policy.choose(PROMPT, free)).as("both 0").isEqualTo(1);
    Candidates turns = of(busy("a", 1).turn(5), busy("b", 1).turn(4));
    assertThat(policy.choose(PROMPT, turns)).isEqualTo(1);
  }

  @Test
  void lmetricSpreadsAHotspot() {
    LmetricPolicy policy = new LmetricPolicy();
    RoutingRequest hot = prompt(10, 0, 7, 0);
    Candidates busy = of(holder("a", 160, 3), busy("b", 1), busy("c", 1), busy("d", 1));
    for (int i = 0; i < 31; i++) {
      policy.committed(hot, busy, 0);
    }
    assertThat(policy.choose(hot, busy)).as("too few").isZero();
    policy.committed(hot, busy, 0);
    assertThat(policy.choose(hot, busy)).isNotZero();
    assertThat(policy.reason(hot, busy, 1)).isEqualTo("hotspot");

    Candidates calm = of(holder("a", 160, 2), busy("b", 1), busy("c", 1), busy("d", 1));
    assertThat(policy.choose(hot, calm)).as("not far above the others").isZero();
    for (int i = 0; i < 96; i++) {
      policy.committed(prompt(10, 0, 8 + i, 0), busy, 1);
    }
    assertThat(policy.choose(hot, busy)).as("32 of 128 requests for a holder of four").isZero();
  }

  @Test
  void lmetricRemembersAWindow() {
    LmetricPolicy.ClassShares shares = new LmetricPolicy.ClassShares();
    for (int i = 0; i < 3 * LmetricPolicy.ClassShares.WINDOW; i++) {
      shares.add(i / 2);
    }
    assertThat(shares.all()).isEqualTo(LmetricPolicy.ClassShares.WINDOW);
    assertThat(shares.classes()).isEqualTo(LmetricPolicy.ClassShares.WINDOW / 2);
    assertThat(shares.requests(0)).isZero();
    assertThat(shares.requests(3 * LmetricPolicy.ClassShares.WINDOW / 2 - 1)).isEqualTo(2);
  }
}
