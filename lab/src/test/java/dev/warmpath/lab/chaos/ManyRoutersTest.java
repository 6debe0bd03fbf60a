package dev.warmpath.lab.chaos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Router processes that are killed, stopped and cut off from each other. */
@EnabledOnOs(OS.LINUX)
class ManyRoutersTest {

  private static final List<String> SCENES =
      List.of("calm", "kill", "startAgain", "standStill", "cut", "end");

  @Test
  @Timeout(600)
  void agreeAgainAfterEachFaultOfTheMesh() throws Exception {
    play(false, SCENES);
  }

  @Test
  @Timeout(600)
  void agreeAgainAfterEachFaultOfRedis() throws Exception {
    assumeThat(ManyRouters.REDIS).isExecutable();
    List<String> scenes = new ArrayList<>(SCENES);
    scenes.add("killRedis");
    play(true, scenes);
  }

  private static void play(boolean overRedis, List<String> scenes) throws Exception {
    List<String> findings = new CopyOnWriteArrayList<>();
    ManyRouters.Form form = ManyRouters.Form.brief(3).patient();
    try (ManyRouters many = new ManyRouters(form, overRedis, findings::add)) {
      RoutersReport report = many.run();

      assertThat(findings).isEmpty();
      assertThat(report.passed()).isTrue();
      ObjectNode json = JsonNodeFactory.instance.objectNode();
      report.json(json);
      for (String scene : scenes) {
        assertThat(json.path(scene).path("recoveredMs").asLong(-1)).as(scene).isNotNegative();
        assertThat(json.path(scene).path("answers").asInt()).as(scene).isPositive();
      }
    }
  }
}
