package dev.warmpath.router;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.config.read.ConfigException;
import dev.warmpath.router.rig.Rig;
import dev.warmpath.router.snapshot.DataDirectory;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SnapshotTest {

  @TempDir private Path dir;

  @Test
  void secondRouterIsRefusedTheDirectoryOfTheFirst() throws Exception {
    try (RouterProcess first = RouterProcess.start(config())) {
      assertThat(first.port()).isPositive();
      assertThatThrownBy(() -> RouterProcess.start(config()))
          .isInstanceOf(StartException.class)
          .hasMessageContaining("snapshot.dir")
          .hasMessageContaining("in use by another router");
    }
    RouterProcess.start(config()).close();
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
    try (RouterProcess router = RouterProcess.start(config())) {
      assertThat(scrape(router))
          .contains("warmpath_snapshots_refused_total{reason=\"damaged\"} 1.0")
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
    assertThat(DataDirectory.of(Map.of(), "/home/u")).isEqualTo(Path.of("/home/u/.warmpath/data"));
    assertThat(DataDirectory.of(Map.of("XDG_STATE_HOME", "/s"), "/home/u"))
        .isEqualTo(Path.of("/s/warmpath"));
  }

  private static String scrape(RouterProcess router) throws IOException, InterruptedException {
    URI uri = URI.create("http://127.0.0.1:" + router.adminPort() + "/metrics");
    HttpRequest request = HttpRequest.newBuilder(uri).timeout(Rig.PATIENCE).build();
    return new String(
        HttpClient.newHttpClient().send(request, BodyHandlers.ofByteArray()).body(), UTF_8);
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
