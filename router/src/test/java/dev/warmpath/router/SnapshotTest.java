package dev.warmpath.router;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.warmpath.router.cli.ServeCommand;
import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.rig.EventFeed;
import dev.warmpath.router.rig.Rig;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

class SnapshotTest {

  private static final HttpClient HTTP = HttpClient.newHttpClient();

  @TempDir private Path dir;

  /** As while one is replaced by another: nobody waits for the first to end. */
  @Test
  @SuppressWarnings("try") // the first ends in between
  void secondRouterReadsWhatTheFirstHasKeptAndKeepsItsOwnLater() throws Exception {
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    Logger logger = (Logger) LoggerFactory.getLogger(RestoredState.class);
    logger.addAppender(log);
    try (EventFeed feed = new EventFeed()) {
      RouterConfig config = following(feed);
      try (RouterProcess first = RouterProcess.start(config)) {
        awaitSnapshot(first, feed);
        assertThat(log.list).isEmpty();
        try (RouterProcess second = RouterProcess.start(config)) {
          assertThat(log.list)
              .singleElement()
              .satisfies(line ->
                  assertThat(line.getFormattedMessage())
                      .startsWith("snapshot.dir: " + dir.toRealPath() + " is in use by another")
                      .contains("router, process " + ProcessHandle.current().pid())
                      .contains("each router needs a directory of its own"));
          assertThat(log.list.get(0).getLevel()).isEqualTo(Level.WARN);
          // it has read the engine, which has no replay socket
          Rig.until(() -> metric(second, "warmpath_recovery_engines{fate=\"no_replay\"}") == 1);
          Rig.until(() -> {
            feed.stored(1); // until it is heard
            return metric(second, "warmpath_snapshot_writes_total{result=\"failed\"}") > 0;
          });
          assertThat(metric(second, WRITTEN)).isZero();

          first.close();
          awaitSnapshot(second, feed);
        }
      }
    } finally {
      logger.detachAppender(log);
    }
  }

  private static final String WRITTEN = "warmpath_snapshot_writes_total{result=\"written\"}";

  private static void awaitSnapshot(RouterProcess router, EventFeed feed) {
    Rig.until(() -> {
      feed.stored(1); // until it is heard
      return metric(router, WRITTEN) > 0;
    });
  }

  private static double metric(RouterProcess router, String name) {
    return scrape(router)
        .lines()
        .filter(line -> line.startsWith(name))
        .mapToDouble(line -> Double.parseDouble(line.substring(name.length())))
        .sum();
  }

  private RouterConfig following(EventFeed feed) throws ConfigException {
    Map<String, Object> replica =
        Map.of(
            "name",
            "r",
            "url",
            "http://127.0.0.1:1",
            "models",
            List.of("m"),
            "events",
            feed.endpoint());
    return tree()
        .set("snapshot.dir", dir.toString(), "test")
        .set("snapshot.interval-ms", 100, "test")
        .put("replicas", replica, "test")
        .config();
  }

  @Test
  void directoryThatNobodyAskedForMayBeTakenOrImpossible() throws Exception {
    Environment taken = Environment.ofTheMachine().keepingIn(dir);
    Path file = Files.createFile(dir.resolve("file"));
    Environment impossible = Environment.ofTheMachine().keepingIn(file.resolve("below"));
    try (RouterProcess first = RouterProcess.start(config(), taken);
        RouterProcess second = RouterProcess.start(plain(), taken);
        RouterProcess third = RouterProcess.start(plain(), impossible)) {
      assertThat(first.port()).isNotEqualTo(second.port()).isNotEqualTo(third.port());
    }
  }

  @Test
  void configuredDirectoryThatCannotBeIsNamed() throws IOException {
    Path file = Files.createFile(dir.resolve("file"));
    assertThatThrownBy(() ->
            RouterProcess.start(
                tree().set("snapshot.dir", file.resolve("below").toString(), "test").config()))
        .isInstanceOf(StartException.class)
        .hasMessageContaining("snapshot.dir");
  }

  @Test
  void nothingIsKeptUnlessThereIsAPlaceForIt() throws Exception {
    RouterProcess.start(plain()).close();
    RouterProcess.start(
            tree().set("snapshot.enabled", false, "test").config(),
            Environment.ofTheMachine().keepingIn(dir))
        .close();
    try (var files = Files.list(dir)) {
      assertThat(files).isEmpty();
    }
  }

  @Test
  void damagedSnapshotIsCountedAndTheRouterStarts() throws Exception {
    Files.write(dir.resolve("index.wpsnap"), new byte[] {1, 2, 3});
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    Logger logger = (Logger) LoggerFactory.getLogger("dev.warmpath");
    logger.addAppender(log);
    try (RouterProcess router = RouterProcess.start(config())) {
      Rig.until(() -> metric(router, "warmpath_snapshots_refused_total{reason=\"damaged\"}") == 1);
      logger.detachAppender(log);
      assertThat(log.list)
          .filteredOn(line -> line.getLevel() == Level.WARN)
          .extracting(ILoggingEvent::getFormattedMessage)
          .anyMatch(line -> line.matches("snapshot .*index.wpsnap is refused, damaged: .+"))
          .anyMatch(line -> line.contains("the index starts empty"));
      assertThat(scrape(router))
          .contains("warmpath_snapshot_writes_total{result=\"written\"} 0.0")
          .doesNotContain("warmpath_recovery_share");
    }
  }

  @Test
  void failedStartLeavesTheDirectory() throws Exception {
    ConfigTree wrong =
        tree()
            .set("snapshot.dir", dir.toString(), "test")
            .put("models", Map.of("name", "m", "tokenizer", "/nowhere"), "test");
    assertThatThrownBy(() -> RouterProcess.start(wrong.config()))
        .isInstanceOf(StartException.class);
    RouterProcess.start(config()).close();
  }

  @Test
  void directoryIsTheUsersStateOrHome() {
    assertThat(ServeCommand.DataDirectory.of(Map.of(), "/home/u"))
        .isEqualTo(Path.of("/home/u/.warmpath/data"));
    assertThat(ServeCommand.DataDirectory.of(Map.of("XDG_STATE_HOME", "/s"), "/home/u"))
        .isEqualTo(Path.of("/s/warmpath"));
  }

  private static String scrape(RouterProcess router) {
    URI uri = URI.create("http://127.0.0.1:" + router.adminPort() + "/metrics");
    HttpRequest request = HttpRequest.newBuilder(uri).timeout(Rig.PATIENCE).build();
    try {
      return new String(HTTP.send(request, BodyHandlers.ofByteArray()).body(), UTF_8);
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private RouterConfig config() throws ConfigException {
    return tree().set("snapshot.dir", dir.toString(), "test").config();
  }

  private static RouterConfig plain() throws ConfigException {
    return tree().config();
  }

  private static ConfigTree tree() {
    return ConfigTree.empty().set("listen.port", 0, "test").set("admin.port", 0, "test");
  }
}
