package dev.warmpath.router;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.members.Membership;
import dev.warmpath.router.rig.Rig;
import java.lang.ref.WeakReference;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A replica that is removed leaves nothing behind. */
class FleetLeavesNothingTest {

  @Test
  void neitherCountersNorTheReplicaItself() throws Exception {
    try (Rig rig = new Rig(2)) {
      for (int i = 0; i < 4; i++) {
        assertThat(rig.chat("{\"model\":\"m\"}").statusCode()).isEqualTo(200);
      }
      rig.untilIdle();
      assertThat(labelled(rig.metrics(), "r1")).isPositive();
      WeakReference<Replica> removed =
          new WeakReference<>(rig.router.fleet().find("r1").orElseThrow());
      rig.router.membership().drop(Membership.CONFIGURATION, "r1");
      Rig.until(() -> rig.router.fleet().find("r1").isEmpty());
      Rig.until(() -> labelled(rig.metrics(), "r1") == 0);
      assertThat(labelled(rig.metrics(), "r0")).isPositive();
      assertThat(rig.chat("{\"model\":\"m\"}").statusCode()).isEqualTo(200);
      Rig.until(() -> {
        System.gc();
        return removed.get() == null;
      });
    }
  }

  private static long labelled(Map<String, Double> metrics, String name) {
    return metrics.keySet().stream().filter(metric -> metric.contains("=\"" + name + "\"")).count();
  }
}
