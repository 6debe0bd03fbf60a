package dev.warmpath.simulator.demo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.config.read.ConfigException;
import dev.warmpath.simulator.demo.RoutedEngine.Router;
import dev.warmpath.simulator.load.FleetPage;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A router ends and another begins, in front of engines that go on or do not. */
@Timeout(300)
class RouterRestartTest {

  private static final String PROMPT = RoutedEngine.prompt("What was warm. ");

  @TempDir private Path dir;

  private final RoutedEngine engine = new RoutedEngine();

  @AfterEach
  void stop() {
    engine.close();
  }

  @Test
  void engineThatGoesOnIsKnownAgainWithoutItsHistory() throws Exception {
    int warm = warmUp();
    assertThat(warm).isPositive();

    try (Router second = router()) {
      assertThat(second.metrics())
          .contains("warmpath_recovery_engines{fate=\"kept\"} 1.0")
          .contains("warmpath_recovery_share 1.0");
      assertThat(second.complete(PROMPT)).isEqualTo(warm);
      assertThat(second.counter("restarts")).isZero();
    }
  }

  @Test
  void engineThatWasStartedAnewMeanwhileIsLearnedAnew() throws Exception {
    assertThat(warmUp()).isPositive();
    engine.engine().kill();
    engine.engine().restart();

    try (Router second = router()) {
      assertThat(second.metrics())
          .contains("warmpath_recovery_engines{fate=\"other_lifetime\"} 1.0")
          .contains("warmpath_recovery_share 0.0");
      assertThat(second.complete(PROMPT)).as("nothing of the old lifetime is credited").isZero();
    }
  }

  /** Tokens that a first router predicts for a prompt that it has sent before. */
  private int warmUp() throws Exception {
    try (Router first = router()) {
      assertThat(first.complete(PROMPT)).isZero();
      int predicted = 0;
      while (predicted == 0) {
        predicted = first.complete(PROMPT);
      }
      return predicted;
    }
  }

  private Router router() throws ConfigException, InterruptedException {
    Router router =
        engine.router(
            Map.of("snapshot.dir", dir.toString()),
            Map.of("replay", engine.engine().replayEndpoint()));
    FleetPage page = new FleetPage("http://127.0.0.1:" + router.process().adminPort());
    assertThat(page.awaitReady(Duration.ofSeconds(60))).isTrue();
    return router;
  }
}
