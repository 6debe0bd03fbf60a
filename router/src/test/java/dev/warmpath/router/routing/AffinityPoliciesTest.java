package dev.warmpath.router.routing;

import static dev.warmpath.router.routing.Fleets.busy;
import static dev.warmpath.router.routing.Fleets.draw;
import static dev.warmpath.router.routing.Fleets.holder;
import static dev.warmpath.router.routing.Fleets.of;
import static dev.warmpath.router.routing.Fleets.prompt;
import static dev.warmpath.router.routing.Fleets.queued;
import static dev.warmpath.router.routing.Fleets.requests;
import static dev.warmpath.router.routing.Fleets.with;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** {@code smg}, {@code aibrix} and {@code llm-d-affinity}, on both sides of their thresholds. */
class AffinityPoliciesTest {

  private static final RoutingRequest PROMPT = prompt(1600); // a hundred blocks

  @Test
  void smgTakesTheLongestMatchThenTheFewestRequests() {
    Policy policy = new SmgPolicy(0);
    Candidates candidates =
        of(holder("a", 320, 2), holder("b", 640, 9), holder("c", 640, 8), busy("d", 0));
    assertThat(policy.choose(PROMPT, candidates)).isEqualTo(2);
    assertThat(policy.reason(PROMPT, candidates, 2)).isEqualTo("cache");
    assertThat(policy.score(PROMPT, candidates, 2).total()).isEqualTo(-40);
  }

  @Test
  void smgLeavesAWinnerFarAboveTheMean() {
    Policy policy = new SmgPolicy(0);
    // mean 32 and 64 in flight; mean 33 and 66
    assertThat(policy.choose(PROMPT, of(holder("a", 160, 64), busy("b", 0)))).isZero();
    Candidates above = of(holder("a", 160, 66), busy("b", 0));
    assertThat(policy.choose(PROMPT, above)).isEqualTo(1);
    assertThat(policy.reason(PROMPT, above, 1)).isEqualTo("load");
    // 33 above a mean of 400 is less than a tenth
    assertThat(policy.choose(PROMPT, of(holder("a", 160, 433), busy("b", 367)))).isZero();
  }

  @Test
  void smgGoesByLoadWithoutAHolder() {
    assertThat(new SmgPolicy(0).choose(PROMPT, of(busy("a", 2), busy("b", 1)))).isEqualTo(1);
  }

  @Test
  void smgMayCountQueuesAgainstAMatch() {
    Candidates candidates = of(with("a", 640, queued(2, 4800)), with("b", 480, queued(2, 3200)));
    assertThat(new SmgPolicy(0).choose(PROMPT, candidates)).isZero();
    assertThat(new SmgPolicy(1).choose(PROMPT, candidates)).as("20 and 30 blocks").isEqualTo(1);
  }

  @Test
  void aibrixGoesByLoadFromSeventeenRequestsOfDifferenceOn() {
    Policy policy = new AibrixPolicy();
    Candidates even = of(holder("a", 160, 16), busy("b", 0));
    assertThat(policy.choose(PROMPT, even)).isZero();
    assertThat(policy.reason(PROMPT, even, 0)).isEqualTo("cache");
    Candidates uneven = of(holder("a", 160, 17), busy("b", 0));
    assertThat(policy.choose(PROMPT, uneven)).isEqualTo(1);
    assertThat(policy.reason(PROMPT, uneven, 1)).isEqualTo("load");
  }

  @Test
  void aibrixComparesWholePercents() {
    RoutingRequest prompt = prompt(16_000); // a block is a tenth of a per cent
    Candidates alike = of(holder("a", 8_016, 5), holder("b", 8_000, 4));
    assertThat(new AibrixPolicy().choose(prompt, alike)).isEqualTo(1);
    Candidates more = of(holder("a", 8_160, 5), holder("b", 8_000, 4));
    assertThat(new AibrixPolicy().choose(prompt, more)).isZero();
  }

  @Test
  void aibrixPassesOverHoldersTwoDeviationsAboveTheMean() {
    Policy policy = new AibrixPolicy();
    List<Fleets.Row> rows = new ArrayList<>(Collections.nCopies(9, busy("idle", 0)));
    rows.add(holder("hot", 1600, 16)); // mean 1.6, deviation 4.8
    assertThat(policy.choose(PROMPT, of(rows))).as("no holder left").isNotEqualTo(9);
    rows.set(0, holder("warm", 160, 0));
    assertThat(policy.choose(PROMPT, of(rows))).isZero();
    List<Fleets.Row> fewer = new ArrayList<>(Collections.nCopies(3, busy("idle", 0)));
    fewer.add(holder("hot", 1600, 16)); // mean 4, deviation 6.9
    assertThat(policy.choose(PROMPT, of(fewer))).isEqualTo(3);
  }

  @Test
  void llmdAffinityTakesTheShortestQueueOfThoseThatHoldNearlyAsMuch() {
    Policy policy = new LlmdAffinityPolicy(LlmdAffinityPolicy.Limits.DEFAULT);
    Candidates candidates =
        of(
            with("a", 1000, queued(1, 500)),
            with("b", 800, queued(1, 400)),
            with("c", 799, queued(1, 300)));
    assertThat(policy.choose(PROMPT, candidates)).isEqualTo(1);
    assertThat(policy.reason(PROMPT, candidates, 1)).isEqualTo("cache");
    Candidates equal = of(with("a", 1000, queued(1, 9)), with("b", 800, queued(1, 9)));
    assertThat(policy.choose(PROMPT, equal)).as("fewer tokens to compute").isZero();
  }

  @Test
  void llmdAffinityLeavesHoldersThatCostMoreThanThePenalty() {
    // At 1,000 tokens a second and 10 s: 10,000 tokens more than elsewhere.
    Policy policy = new LlmdAffinityPolicy(new LlmdAffinityPolicy.Limits(0.8, 1000, 10_000));
    Candidates within = of(with("a", 1600, queued(1, 11_600)), busy("b", 0));
    assertThat(policy.choose(PROMPT, within)).isZero();
    Candidates beyond = of(with("a", 1600, queued(1, 11_601)), busy("b", 0));
    assertThat(policy.choose(PROMPT, beyond)).isEqualTo(1);
    assertThat(policy.reason(PROMPT, beyond, 1)).isEqualTo("load");
  }

  @Test
  void llmdAffinityTurnsColdPromptsRound() {
    Policy policy = new LlmdAffinityPolicy(LlmdAffinityPolicy.Limits.DEFAULT);
    Candidates cold = of(busy("a", 0).turn(9), busy("b", 7).turn(3), busy("c", 8).turn(1));
    List<Integer> winners = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      winners.add(policy.choose(PROMPT, cold));
      policy.committed(PROMPT, cold, winners.get(i));
    }
    assertThat(winners).containsExactly(2, 1, 0, 2, 1, 0);
    assertThat(policy.reason(PROMPT, cold, 0)).isEqualTo("cold");
    policy.committed(PROMPT, of(holder("a", 160, 0), busy("b", 0), busy("c", 0)), 2);
    assertThat(policy.choose(PROMPT, cold)).as("a warm prompt is no cold turn").isEqualTo(2);
  }

  @Test
  void unknownPromptsAreServedToo() {
    Candidates candidates = of(with("a", 100, requests(2)), with("b", 0, requests(1)));
    assertThat(new SmgPolicy(0).choose(draw(0), candidates)).isEqualTo(1);
    assertThat(new AibrixPolicy().choose(draw(0), candidates)).isEqualTo(1);
  }

  @Test
  void memoryOfEnginesIsBounded() {
    RecentMap<Integer, Long> recent = new RecentMap<>(3);
    for (int i = 0; i < 10; i++) {
      recent.put(i % 5, (long) i);
    }
    assertThat(recent.share()).isEqualTo(1);
    assertThat(recent.get(4)).isEqualTo(9);
    assertThat(recent.get(1)).isNull();
  }
}
