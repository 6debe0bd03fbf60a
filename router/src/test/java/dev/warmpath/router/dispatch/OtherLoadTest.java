package dev.warmpath.router.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.fleet.OtherLoad;
import dev.warmpath.router.fleet.Outcome;
import dev.warmpath.router.rig.Rig;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Engines that also work for others. */
class OtherLoadTest {

  @ParameterizedTest
  @ValueSource(strings = {"warm", "least-requests"})
  void halfOfAnEnginesLoadIsOfOthers(String policy) {
    World world = new World(policy).with(2);
    world.replica("r0").otherLoad(0, new OtherLoad(8, 2, 0.5));
    for (int i = 0; i < 10; i++) {
      Assignment assignment = world.assign(World.prompt(0, 2_000, 1, i));
      assertThat(assignment.engine()).isEqualTo("r1");
      assignment.finished(Outcome.COMPLETED);
    }
    world.replica("r0").otherLoad(0, OtherLoad.NONE);
    Set<String> given = new TreeSet<>();
    for (int i = 10; i < 20; i++) {
      Assignment assignment = world.assign(World.prompt(0, 2_000, 1, i));
      given.add(assignment.engine());
      assignment.finished(Outcome.COMPLETED);
    }
    assertThat(given).as("both are idle").containsExactly("r0", "r1");
  }

  @Test
  void ownLoadAndThatOfOthersAddUp() {
    World world = new World("least-requests").with(2);
    world.replica("r0").otherLoad(0, new OtherLoad(3, 2, 0));
    Map<String, Integer> given = new HashMap<>();
    for (int i = 0; i < 25; i++) {
      given.merge(world.assign(World.prompt(0, 2_000, 1, i)).engine(), 1, Integer::sum);
    }
    assertThat(given).containsOnly(Map.entry("r0", 10), Map.entry("r1", 15));
  }

  @Test
  void aLongMatchIsWorthSomeLoadOfOthersAndNotAnyLoad() {
    World world = new World("warm").with(3);
    world.store("r0", 500, World.prompt(8_000));
    world.replica("r0").otherLoad(0, new OtherLoad(2, 0, 0));
    Assignment near = world.assign(World.prompt(8_000));
    assertThat(near.engine()).isEqualTo("r0");
    near.finished(Outcome.COMPLETED);
    world.replica("r0").otherLoad(0, new OtherLoad(50, 200, 0.9));
    assertThat(world.assign(World.prompt(8_000)).engine()).isNotEqualTo("r0");
  }

  @Test
  void loadOfOthersIsReadFromTheEnginesMetrics() throws Exception {
    try (Rig rig =
        new Rig(
            2,
            tree ->
                tree.set("policy.name", "least-requests", "test")
                    .set("health.metrics-interval-ms", 20, "test"))) {
      rig.backends.get(0).metrics =
          "vllm:num_requests_running{engine=\"0\"} 7.0\nvllm:num_requests_waiting{engine=\"0\"} 2.0\n";
      Rig.until(() ->
          rig.metrics()
              .getOrDefault("warmpath_engine_other_requests{engine=\"r0\",state=\"waiting\"}", 0.0)
              .equals(2.0));
      for (int i = 0; i < 10; i++) {
        rig.chat("{\"model\":\"m\"}");
      }
      assertThat(rig.backends.get(0).bodies).isEmpty();
      assertThat(rig.backends.get(1).bodies).hasSize(10);
      rig.backends.get(0).metrics = "nothing";
      Rig.until(() ->
          rig.metrics()
              .get("warmpath_engine_other_requests{engine=\"r0\",state=\"running\"}")
              .equals(0.0));
    }
  }
}
