package dev.warmpath.simulator.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.simulator.fleet.FleetPlan.Incident;
import dev.warmpath.simulator.fleet.Routers.Sharing;
import dev.warmpath.simulator.fleet.Runs.Outcome;
import dev.warmpath.simulator.study.Chats;
import dev.warmpath.simulator.trace.Trace;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Several routers in front of one fleet. */
class ManyRoutersTest {

  private static final Trace CHATS =
      Chats.trace(
          "{\"seconds\": 120, \"sessions\": 1200, \"tenants\": 10, \"system\": 3000, \"think\": 3}");

  private static final Trace FEWER_CHATS =
      Chats.trace(
          "{\"seconds\": 30, \"sessions\": 300, \"tenants\": 10, \"system\": 3000, \"think\": 3}");

  @Test
  void thoseThatShareServeAsOneDoes() {
    Outcome one = run(Routers.ONE);
    Outcome sharing = run(new Routers(8, false, new Sharing(2, 0, 0)));
    Outcome apart = run(new Routers(8, false, Sharing.OFF));
    assertThat(sharing.answered()).isEqualTo(one.answered()).isEqualTo(apart.answered());
    assertThat(sharing.hitRate()).isEqualTo(one.hitRate(), within(0.01));
    assertThat(sharing.meanMillis()).isLessThan(1.1 * one.meanMillis());
    assertThat(apart.meanMillis()).isGreaterThan(sharing.meanMillis());
  }

  @Test
  void messagesMayBeLateAndLost() {
    Routers routers = new Routers(4, true, new Sharing(10, 30, 0.2));
    Outcome once = run(FEWER_CHATS, routers);
    assertThat(once.answered()).isEqualTo(FEWER_CHATS.requests());
    assertThat(run(FEWER_CHATS, routers).measures())
        .usingRecursiveComparison()
        .isEqualTo(once.measures());
    for (Sharing better : List.of(new Sharing(10, 30, 0), new Sharing(10, 0, 0))) {
      assertThat(run(FEWER_CHATS, new Routers(4, true, better)).measures())
          .as("without loss: %s", better)
          .usingRecursiveComparison()
          .isNotEqualTo(once.measures());
    }
  }

  @Test
  void anEngineThatFailsFailsForAllOfThem() {
    Routers routers = new Routers(3, false, new Sharing(2, 0, 0));
    Outcome outcome =
        run(
            routers,
            Incident.of(30, 1, Incident.Kind.FAIL),
            Incident.of(60, 1, Incident.Kind.RECOVER));
    assertThat(outcome.answered()).isEqualTo(CHATS.requests());
    assertThat(outcome.requests()[1]).isPositive();
  }

  private static Outcome run(Routers routers, Incident... incidents) {
    return run(CHATS, routers, incidents);
  }

  private static Outcome run(Trace trace, Routers routers, Incident... incidents) {
    return Runs.run("warm", trace, 4, Runs.engine(16, 20_000), IndexMode.NOW, routers, incidents);
  }
}
