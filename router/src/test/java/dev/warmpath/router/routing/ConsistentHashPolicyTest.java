package dev.warmpath.router.routing;

import static dev.warmpath.router.routing.Fleets.busy;
import static dev.warmpath.router.routing.Fleets.draw;
import static dev.warmpath.router.routing.Fleets.idle;
import static dev.warmpath.router.routing.Fleets.of;
import static dev.warmpath.router.routing.Fleets.session;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.router.routing.Fleets.Row;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class ConsistentHashPolicyTest {

  private final Policy policy = new ConsistentHashPolicy(ConsistentHashPolicy.DEFAULT_LOAD_BOUND);

  @Test
  void aSessionStaysWhereItIs() {
    List<Row> reversed = new ArrayList<>(rows(8));
    java.util.Collections.reverse(reversed);
    assertThat(home("alice", of(reversed))).isEqualTo(home("alice", idle(8)));
  }

  @Test
  void sessionsSpreadOverAll() {
    Map<String, Integer> homes = new TreeMap<>();
    for (int i = 0; i < 8000; i++) {
      homes.merge(home("session-" + i, idle(8)), 1, Integer::sum);
    }
    assertThat(homes).hasSize(8);
    assertThat(homes.values()).allSatisfy(count -> assertThat(count).isBetween(700, 1300));
  }

  @Property(tries = 200)
  void aReplicaThatLeavesMovesOnlyItsOwnKeys(
      @ForAll @IntRange(min = 2, max = 12) int replicas,
      @ForAll int key,
      @ForAll @IntRange(max = 11) int leaver) {
    List<Row> after = new ArrayList<>(rows(replicas));
    String gone = after.remove(leaver % replicas).name();
    String home = home("s" + key, idle(replicas));
    if (!home.equals(gone)) {
      assertThat(home("s" + key, of(after))).isEqualTo(home);
    }
  }

  @Test
  void aReplicaThatComesTakesItsFairShare() {
    int moved = 0;
    for (int i = 0; i < 2000; i++) {
      String before = home("s" + i, idle(9));
      String after = home("s" + i, idle(10));
      if (!before.equals(after)) {
        assertThat(after).isEqualTo("r9");
        moved++;
      }
    }
    assertThat(moved).isBetween(120, 290);
  }

  @Test
  void aFullReplicaPassesOnToTheNext() {
    int home = policy.choose(session("bob"), idle(3));
    // Fair shares of 1.25·(9 + 1)/3 = 4.2, so at most 5: with 4 it takes one more, with 5 none.
    assertThat(policy.choose(session("bob"), loaded(home, 4, 5))).isEqualTo(home);
    Candidates full = loaded(home, 5, 4);
    assertThat(policy.choose(session("bob"), full)).isNotEqualTo(home);
    assertThat(policy.reason(session("bob"), full, 0)).isEqualTo("session");
  }

  private static Candidates loaded(int home, int there, int elsewhere) {
    List<Row> candidates = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      int other = (home + 1) % 3 == i ? elsewhere : 0;
      candidates.add(busy("r" + i, i == home ? there : other));
    }
    return of(candidates);
  }

  @Property(tries = 200)
  void nobodyComesAboveTheBound(
      @ForAll List<@IntRange(max = 50) Integer> loads, @ForAll String session) {
    List<Row> candidates = new ArrayList<>(List.of(busy("first", 0)));
    for (int i = 0; i < loads.size(); i++) {
      candidates.add(busy("r" + i, loads.get(i)));
    }
    int winner = policy.choose(session(session), of(candidates));
    int sum = loads.stream().mapToInt(Integer::intValue).sum();
    assertThat(candidates.get(winner).load().requestsInFlight() + 1)
        .isLessThanOrEqualTo((int) Math.ceil(1.25 * (sum + 1) / candidates.size()));
  }

  @Test
  void promptsThatBeginAlikeGoTogetherWithoutASession() {
    RoutingRequest alike = new RoutingRequest(100, PromptBlocks.NONE, null, 77, 1, 0);
    RoutingRequest longer = new RoutingRequest(900, PromptBlocks.NONE, null, 77, 2, 0);
    assertThat(policy.reason(alike, idle(8), 0)).isEqualTo("prefix");
    assertThat(policy.choose(longer, idle(8))).isEqualTo(policy.choose(alike, idle(8)));
  }

  @Test
  void withoutAnyKeyTheLeastLoadedIsTaken() {
    Candidates candidates = of(busy("a", 2), busy("b", 1));
    assertThat(policy.choose(draw(0), candidates)).isEqualTo(1);
    assertThat(policy.reason(draw(0), candidates, 1)).isEqualTo("load");
  }

  @Test
  void refusesABoundThatLeavesNoRoom() {
    assertThatThrownBy(() -> new ConsistentHashPolicy(1)).hasMessageContaining("loadBound=1.0");
  }

  private String home(String session, Candidates candidates) {
    return candidates.name(policy.choose(session(session), candidates));
  }

  private static List<Row> rows(int count) {
    return IntStream.range(0, count).mapToObj(i -> busy("r" + i, 0)).toList();
  }
}
