package dev.warmpath.router.routing;

import static dev.warmpath.router.routing.Fleets.of;
import static dev.warmpath.router.routing.Fleets.prompt;
import static dev.warmpath.router.routing.Fleets.with;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.routing.WarmPolicy.PrefixDemand;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class PrefixDemandTest {

  private static final int SHARED = 100;
  private static final int ENGINES = 4;

  private final PrefixDemand demand = new PrefixDemand();
  private int own;

  @Test
  void whatAllRequestsShareShouldBeHeldByAll() {
    Candidates one = holders(1);
    add(20, one);
    // Twenty requests of at least 32: 2.5 engines' worth.
    assertThat(demand.underHeldBlocks(next(), one)).isEqualTo(SHARED);
    assertThat(demand.underHeldBlocks(next(), holders(2))).isEqualTo(SHARED);
    assertThat(demand.underHeldBlocks(next(), holders(3))).isZero();
    add(100, one);
    assertThat(demand.underHeldBlocks(next(), holders(3))).isEqualTo(SHARED);
    assertThat(demand.underHeldBlocks(next(), holders(4))).isZero();
  }

  @Test
  void whatFewShareStaysWhereItIs() {
    for (int i = 0; i < 100; i++) {
      demand.add(i % 5 == 0 ? next() : other(), holders(1));
    }
    // A fifth of the requests are less than one engine of four can carry.
    assertThat(demand.underHeldBlocks(next(), holders(1))).isZero();
  }

  @Test
  void aSessionThatGrowsIsNotShared() {
    for (int turn = 1; turn < 50; turn++) {
      Candidates holder = of(row("0", 10 * turn), row("1", 0), row("2", 0), row("3", 0));
      RoutingRequest request = prompt(10 * turn + 10, 1, 7, 1);
      assertThat(demand.underHeldBlocks(request, holder)).isZero();
      demand.add(request, holder);
    }
  }

  @Test
  void theDeepestPrefixInDemandCounts() {
    Candidates two = of(row("0", SHARED), row("1", SHARED / 2), row("2", 0), row("3", 0));
    add(50, two);
    assertThat(demand.underHeldBlocks(next(), two)).isEqualTo(SHARED);
    for (int i = 0; i < 50; i++) {
      demand.add(prompt(SHARED / 2, 70, 1, own++), two);
    }
    // Half of the requests want all of it, the others its first half.
    Candidates three = of(row("0", SHARED), row("1", SHARED), row("2", SHARED / 2), row("3", 0));
    assertThat(demand.underHeldBlocks(next(), three)).isEqualTo(SHARED / 2);
  }

  @Test
  void forgetsWhatIsNoLongerAskedFor() {
    add(200, holders(1));
    for (int i = 0; i < 32 * ENGINES; i++) {
      demand.add(other(), holders(0));
    }
    assertThat(demand.underHeldBlocks(next(), holders(1))).isZero();
    assertThat(demand.memoryShare()).isEqualTo(32 * ENGINES / 16_384.0);
  }

  @Test
  void warmCopiesBeforeTheHolderIsOverloaded() {
    Policy policy = new WarmPolicy(WarmPolicy.Weights.DEFAULT);
    Load decoding = new Load(1, 0, 0, 0, 0);
    Candidates busy =
        of(with("holder", 16 * SHARED, decoding), row("1", 0), row("2", 0), row("3", 0));
    assertThat(policy.choose(next(), busy)).isZero();
    for (int i = 0; i < 50; i++) {
      policy.committed(next(), busy, 0);
    }
    int copy = policy.choose(next(), busy);
    assertThat(copy).isNotZero();
    assertThat(policy.reason(next(), busy, copy)).isEqualTo("spread");
    // An idle holder is not overloaded.
    assertThat(policy.choose(next(), holders(1))).isZero();
    assertThat(policy.reason(next(), holders(1), 0)).isEqualTo("cache");
  }

  private void add(int requests, Candidates candidates) {
    for (int i = 0; i < requests; i++) {
      demand.add(next(), candidates);
    }
  }

  private RoutingRequest next() {
    return prompt(SHARED, 20, 1, own++);
  }

  private RoutingRequest other() {
    return prompt(SHARED, 20, 1000 + own++, 1);
  }

  private static Candidates holders(int count) {
    List<Fleets.Row> rows = new ArrayList<>();
    for (int i = 0; i < ENGINES; i++) {
      rows.add(row(String.valueOf(i), i < count ? SHARED : 0));
    }
    return of(rows);
  }

  private static Fleets.Row row(String name, int blocks) {
    return with(name, 16 * blocks, Load.NONE);
  }
}
