package dev.warmpath.router.routing;

import static dev.warmpath.router.routing.Fleets.busy;
import static dev.warmpath.router.routing.Fleets.draw;
import static dev.warmpath.router.routing.Fleets.idle;
import static dev.warmpath.router.routing.Fleets.of;
import static dev.warmpath.router.routing.Fleets.turned;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.routing.Policies.RandomPolicy;
import dev.warmpath.router.routing.Policies.RoundRobinPolicy;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** {@code random}, {@code round-robin}, {@code least-requests}, and ties in all that score. */
class SimplePoliciesTest {

  @Test
  void randomGoesByTheDraw() {
    Policy random = new RandomPolicy();
    assertThat(random.choose(draw(5), idle(3))).isEqualTo(2);
    assertThat(random.choose(draw(-1), idle(4))).isEqualTo(3);
  }

  @Test
  void randomIsEven() {
    assertThat(winners(new RandomPolicy(), idle(4), 4000).values())
        .allSatisfy(count -> assertThat(count).isBetween(900, 1100));
  }

  @Test
  void roundRobinTakesWhoWaitsLongest() {
    Policy policy = new RoundRobinPolicy();
    Candidates candidates = of(turned("a", 7), turned("b", 5), turned("c", 6));
    assertThat(policy.choose(draw(0), candidates)).isEqualTo(1);
  }

  @Test
  void roundRobinTakesNewcomersFirst() {
    Policy policy = new RoundRobinPolicy();
    Candidates candidates = of(turned("a", 0), turned("new", Candidates.NEVER));
    assertThat(policy.choose(draw(0), candidates)).isEqualTo(1);
  }

  @Test
  void leastRequestsTakesTheLeastLoaded() {
    Policy policy = new LeastRequestsPolicy();
    Candidates candidates = of(busy("a", 3), busy("b", 1), busy("c", 2));
    assertThat(policy.choose(draw(0), candidates)).isEqualTo(1);
  }

  @ParameterizedTest
  @MethodSource("allThatScore")
  void tiesGoToWhoseTurnIsLongestAgo(String name) {
    Policy policy = Policies.named(name, Map.of());
    Candidates candidates = of(turned("a", 2), turned("b", 0), turned("c", 1));
    for (long draw = 0; draw < 3; draw++) {
      assertThat(policy.choose(draw(draw), candidates)).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @MethodSource("all")
  void tiesAmongNewcomersGoByTheDraw(String name) {
    assertThat(winners(Policies.named(name, Map.of()), idle(4), 4000).values())
        .hasSize(4)
        .allSatisfy(count -> assertThat(count).isBetween(900, 1100));
  }

  private static List<String> all() {
    return Policies.names();
  }

  private static List<String> allThatScore() {
    List<String> byDraw = List.of("random", "power-of-two");
    return all().stream().filter(name -> !byDraw.contains(name)).toList();
  }

  private static Map<Integer, Integer> winners(Policy policy, Candidates candidates, int requests) {
    SplittableRandom random = new SplittableRandom(42);
    Map<Integer, Integer> wins = new HashMap<>();
    for (int i = 0; i < requests; i++) {
      wins.merge(policy.choose(draw(random.nextLong()), candidates), 1, Integer::sum);
    }
    return wins;
  }
}
