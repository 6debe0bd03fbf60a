package dev.warmpath.router.routing;

import static dev.warmpath.router.routing.Fleets.busy;
import static dev.warmpath.router.routing.Fleets.draw;
import static dev.warmpath.router.routing.Fleets.idle;
import static dev.warmpath.router.routing.Fleets.of;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class PowerOfTwoPolicyTest {

  private final Policy policy = new PowerOfTwoPolicy();

  @Test
  void takesTheLessBusyOfTheTwoThatWereDrawn() {
    Candidates candidates = of(busy("a", 3), busy("b", 1), busy("c", 2), busy("d", 0));
    // Of four, draw d gives the first d mod 4, and of the other three the one at d/4 mod 3.
    assertThat(policy.choose(draw(0), candidates)).as("a or b").isEqualTo(1);
    assertThat(policy.choose(draw(4), candidates)).as("a or c").isEqualTo(2);
    assertThat(policy.choose(draw(2 + 4), candidates)).as("c or b").isEqualTo(1);
    assertThat(policy.choose(draw(3), candidates)).as("d or a").isEqualTo(3);
    assertThat(policy.score(draw(0), candidates, 3).total()).isEqualTo(Ranking.RULED_OUT);
  }

  @Test
  void mostBusyNeverWinsAndTheOthersAsOftenAsTheyShould() {
    Candidates candidates = of(busy("a", 0), busy("b", 1), busy("c", 2));
    SplittableRandom random = new SplittableRandom(5);
    Map<Integer, Integer> wins = new HashMap<>();
    for (int i = 0; i < 3000; i++) {
      wins.merge(policy.choose(draw(random.nextLong()), candidates), 1, Integer::sum);
    }
    assertThat(wins).containsOnlyKeys(0, 1);
    assertThat(wins.get(0)).isBetween(1900, 2100);
  }

  @Test
  void oneCandidateIsEnough() {
    assertThat(policy.choose(draw(-1), idle(1))).isZero();
  }

  @Test
  void countsRequestsByWeight() {
    Candidates candidates = new Candidates();
    candidates.add("big", 0, PrefillCost.DEFAULT, -1).load(Fleets.requests(3)).weighing(4);
    candidates.add("small", 1, PrefillCost.DEFAULT, -1).load(Fleets.requests(1));
    assertThat(policy.choose(draw(1), candidates)).isZero();
    assertThat(new LeastRequestsPolicy().choose(draw(1), candidates)).isZero();
  }
}
