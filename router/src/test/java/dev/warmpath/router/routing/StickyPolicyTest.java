package dev.warmpath.router.routing;

import static dev.warmpath.router.routing.Fleets.of;
import static dev.warmpath.router.routing.Fleets.queued;
import static dev.warmpath.router.routing.Fleets.with;
import static org.assertj.core.api.Assertions.assertThat;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class StickyPolicyTest {

  private final StickyPolicy policy = new StickyPolicy(2);

  @Test
  void staysWhileItCostsAtMostTwiceTheLeast() {
    Candidates idle = of(with("a", 0, Load.NONE), with("b", 1, Load.NONE));
    policy.committed(request("s"), idle, 0);
    // (q + c)·(r + 1) is 1000 on b; on a 2000, then 2002
    Candidates twice = of(with("a", 0, queued(1, 0)), with("b", 0, Load.NONE));
    Candidates more = of(with("a", 0, queued(1, 1)), with("b", 0, Load.NONE));

    assertThat(policy.choose(request("s"), twice)).isZero();
    assertThat(policy.reason(request("s"), twice, 0)).isEqualTo("session");
    assertThat(policy.choose(request("s"), more)).isEqualTo(1);
    assertThat(policy.reason(request("s"), more, 1)).isEqualTo("load");
  }

  @Test
  void followsTheSessionToItsNewEngine() {
    Candidates even = of(with("a", 0, Load.NONE), with("b", 1, Load.NONE));
    policy.committed(request("s"), even, 0);
    assertThat(policy.choose(request("s"), even)).isZero();
    policy.committed(request("s"), even, 1);
    assertThat(policy.choose(request("s"), even)).isEqualTo(1);
  }

  @Test
  void withoutASessionTheLowestProductWins() {
    Candidates candidates = of(with("a", 0, Load.NONE), with("b", 1, Load.NONE));
    policy.committed(request(null), candidates, 0);
    assertThat(policy.choose(request(null), candidates)).isEqualTo(1);
  }

  @Test
  void forgetsTheSessionsOfLongAgo() {
    Candidates candidates = of(with("a", 0, Load.NONE), with("b", 1, Load.NONE));
    policy.committed(request("first"), candidates, 0);
    for (int i = 1; i < StickyPolicy.SESSIONS; i++) {
      policy.committed(request("s" + i), candidates, 1);
    }
    assertThat(policy.choose(request("first"), candidates)).isZero();
    assertThat(policy.memoryShare()).isEqualTo(1);
    policy.committed(request("last"), candidates, 1);
    assertThat(policy.choose(request("first"), candidates)).isEqualTo(1);
  }

  private static RoutingRequest request(@Nullable String session) {
    return new RoutingRequest(1000, PromptBlocks.NONE, session, 0, 0, 0);
  }
}
