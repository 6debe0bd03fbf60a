package dev.warmpath.simulator.demo;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.router.config.ConfigException;
import dev.warmpath.simulator.demo.RoutedEngine.Router;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A router ends and another begins, in front of engines that go on or do not. */
@Timeout(300)
class RouterRestartTest {

  private static final String PROMPT = RoutedEngine.prompt("What was warm. ");
  private static final String OTHER_PROMPT = RoutedEngine.prompt("What came meanwhile. ");

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

  /** The snapshot is a pipe, so that it is read as fast as the test writes. */
  @Test
  void servesWhileTheSnapshotIsReadAndGoesOnWithWhatHappenedMeanwhile() throws Exception {
    int warm = warmUp();
    byte[] snapshot = makePipe();

    try (Router second = begin()) {
      assertThat(events(second)).isEqualTo("catching_up: the snapshot is being read");
      assertThat(second.complete(PROMPT)).as("served, and not credited").isZero();
      try (OutputStream pipe = Files.newOutputStream(newest())) {
        pipe.write(snapshot, 0, snapshot.length - 1);
        second.complete(OTHER_PROMPT); // the engine stores it meanwhile
        assertThat(second.complete(PROMPT)).as("none of it is believed in part").isZero();
        assertThat(events(second)).isEqualTo("catching_up: the snapshot is being read");
        pipe.write(snapshot, snapshot.length - 1, 1);
      }
      ready(second);
      assertThat(second.metrics())
          .contains("warmpath_recovery_engines{fate=\"kept\"} 1.0")
          .contains("warmpath_recovery_share 1.0");
      assertThat(second.complete(PROMPT)).isEqualTo(warm);
      assertThat(second.complete(OTHER_PROMPT)).isPositive();
    }
  }

  @Test
  void nothingOfASnapshotThatIsDamagedAtItsEndIsBelieved() throws Exception {
    assertThat(warmUp()).isPositive();
    byte[] snapshot = makePipe();
    snapshot[snapshot.length - 1] ^= 1;
    engine.engine().kill();
    engine.engine().restart(); // so that nothing of it is true any more

    try (Router second = begin()) {
      Files.write(newest(), snapshot);
      ready(second);
      assertThat(second.metrics())
          .contains("warmpath_snapshots_refused_total{reason=\"damaged\"} 1.0")
          .doesNotContain("warmpath_recovery_share");
      assertThat(second.matchedTokens(PROMPT)).isZero();
      second.complete(PROMPT);
      while (second.complete(PROMPT) == 0) {
        Thread.onSpinWait(); // until the engine's events are heard
      }
    }
  }

  private Path newest() {
    return dir.resolve("index.wpsnap");
  }

  /** Puts a pipe in the place of the snapshot, and returns what was in it. */
  private byte[] makePipe() throws Exception {
    Files.deleteIfExists(dir.resolve("index.wpsnap.1"));
    byte[] snapshot = Files.readAllBytes(newest());
    Files.delete(newest());
    assertThat(new ProcessBuilder("mkfifo", newest().toString()).start().waitFor()).isZero();
    return snapshot;
  }

  private static String events(Router router) throws Exception {
    JsonNode events = router.events();
    return events.path("trust").asText() + ": " + events.path("reason").asText();
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
    return ready(begin());
  }

  private Router begin() throws ConfigException {
    return engine.router(
        Map.of("snapshot.dir", dir.toString()),
        Map.of("replay", engine.engine().replayEndpoint(), "models", List.of("sim")));
  }

  private static Router ready(Router router) throws InterruptedException {
    FleetPage page = new FleetPage("http://127.0.0.1:" + router.process().adminPort());
    assertThat(page.awaitReady(Duration.ofSeconds(60))).isTrue();
    return router;
  }
}
