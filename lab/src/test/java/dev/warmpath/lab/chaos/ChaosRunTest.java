package dev.warmpath.lab.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.lab.chaos.Classifier.ChaosVerdict.Kind;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class ChaosRunTest {

  @Test
  @Timeout(300)
  void nothingHangsLeaksOrIsWrong() throws Exception {
    List<String> findings = new CopyOnWriteArrayList<>();
    ChaosReport report = new ChaosRun(new ChaosPlan(6, 11), findings::add).run();

    assertThat(findings).isEmpty();
    assertThat(report.passed()).isTrue();
    assertThat(report.count(Kind.COMPLETED)).isPositive();
    assertThat(report.count(Kind.REFUSED)).as("the overload is real").isPositive();
    assertThat(report.count(Kind.CLEAR_ERROR)).as("so are the faults").isPositive();
    ObjectNode json = JsonNodeFactory.instance.objectNode();
    report.json(json);
    assertThat(json.path("faults").isEmpty()).isFalse();
    assertThat(json.path("overload").path("ttftMsP99").asDouble()).isPositive();
    for (String figure : List.of("hung", "leaked", "wrong", "enginesLost")) {
      assertThat(json.path(figure).asInt(-1)).as(figure).isZero();
    }
  }
}
