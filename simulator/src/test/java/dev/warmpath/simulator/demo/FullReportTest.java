package dev.warmpath.simulator.demo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.simulator.demo.RoutedEngine.Router;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A router that comes late, to an engine without a replay socket. */
@Timeout(60)
class FullReportTest {

  private static final String OLD_TEXT = "What was warm before. ";
  private static final String OLD = RoutedEngine.prompt(OLD_TEXT);

  private final RoutedEngine engine = new RoutedEngine();

  @AfterEach
  void stop() {
    engine.close();
  }

  @Test
  void whatWasThereBeforeIsKnownOnceItIsAskedFor() throws Exception {
    engine.completeThere(OLD);
    try (Router router = router(60)) {
      joinedLate(router);
      int tokens = router.matchedTokens(OLD);
      while (tokens == 0) {
        router.complete(OLD);
        tokens = router.matchedTokens(OLD);
      }
      assertThat(tokens).isGreaterThan(100);
      assertThat(router.counter("reports_asked")).isPositive();
    }
  }

  @Test
  void nobodyIsAskedUnlessItIsConfigured() throws Exception {
    engine.completeThere(OLD);
    try (Router router = router(0)) {
      joinedLate(router);
      router.complete(OLD);
      router.complete(OLD);
      assertThat(router.matchedTokens(OLD)).isZero();
      assertThat(router.counter("reports_asked")).isZero();
    }
  }

  /** The engine's hashes are understood by then, so that those of the old blocks are computed. */
  @Test
  void whatWasThereBeforeIsKnownOnceSomethingIsStoredBehindIt() throws Exception {
    engine.completeThere(OLD);
    try (Router router = router(0)) {
      joinedLate(router);
      int tokens = router.matchedTokens(OLD);
      for (int i = 0; tokens == 0; i++) {
        router.complete(longer(i));
        tokens = router.matchedTokens(OLD);
      }
      assertThat(tokens).isGreaterThan(100);
      assertThat(router.counter("recalled_blocks")).isPositive();
      assertThat(router.events().required("hashScheme").asText()).isNotEqualTo("unknown");
    }
  }

  /** The old text, and something new behind it each time. */
  private static String longer(int turn) {
    return OLD.replace(OLD_TEXT + "\"", OLD_TEXT + ("Turn " + turn + ". ").repeat(20) + "\"");
  }

  /** The first batch that is heard is not the engine's first. */
  private static void joinedLate(Router router) throws Exception {
    String trust = "";
    for (int i = 0; !trust.equals("suspect"); i++) {
      router.complete(RoutedEngine.prompt(i + " something else. "));
      trust = router.events().required("trust").asText();
    }
  }

  private Router router(long reports) throws Exception {
    return engine
        .router(Map.of("snapshot.enabled", false), Map.of("full-reports-per-minute", reports))
        .ready();
  }
}
