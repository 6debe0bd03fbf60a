package dev.warmpath.router.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.router.StartException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.rig.Certificates;
import dev.warmpath.router.rig.RawClient;
import dev.warmpath.router.rig.Rig;
import java.nio.file.Path;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who may use the admin endpoints, over sockets. */
class AdminKeyTest {

  private static final String KEY = "a-key-of-operators";

  @TempDir private Path folder;
  private Path file;

  @BeforeEach
  void write() {
    file = Certificates.replace(folder.resolve("admin-key"), KEY + "\n");
  }

  @Test
  void theKeyIsNeededForEverything() throws Exception {
    try (Rig rig = rig(tree -> tree)) {
      for (String asked :
          new String[] {
            "GET /admin/fleet",
            "GET /admin/tokenizers",
            "GET /admin/replicas",
            "POST /admin/replicas/r0/drain",
            "DELETE /admin/replicas/r0",
            "GET /metrics",
            "GET /nothing"
          }) {
        assertThat(ask(rig, asked, "")).as(asked).contains(" 401 ");
        assertThat(ask(rig, asked, "authorization: Bearer x" + KEY + "\r\n")).contains(" 401 ");
      }
      String authorized = "authorization: Bearer " + KEY + "\r\n";
      assertThat(ask(rig, "GET /admin/fleet", authorized)).contains(" 200 ");
      assertThat(ask(rig, "GET /metrics", authorized)).contains(" 200 ");
      assertThat(ask(rig, "GET /admin/fleet", authorized + "host: warmpath.example\r\n"))
          .contains(" 200 ");
    }
  }

  @Test
  void aPageOfAnotherSiteChangesNothingEvenWithTheKey() throws Exception {
    try (Rig rig = rig(tree -> tree)) {
      String page = "authorization: Bearer " + KEY + "\r\norigin: http://evil.example\r\n";
      assertThat(ask(rig, "POST /admin/replicas/r0/drain", page)).contains(" 403 ");
    }
  }

  @Test
  void aSupervisorNeedsNone() throws Exception {
    try (Rig rig = rig(tree -> tree)) {
      for (String path : new String[] {"/health", "/health/ready", "/health/live"}) {
        assertThat(ask(rig, "GET " + path, "")).as(path).contains(" 200 ").contains("\"ok\"");
      }
    }
  }

  @Test
  void metricsHaveASwitchOfTheirOwn() throws Exception {
    try (Rig rig = rig(tree -> tree.set("admin.open-metrics", true, "test"))) {
      assertThat(ask(rig, "GET /metrics", "")).contains(" 200 ");
      assertThat(ask(rig, "GET /admin/fleet", "")).contains(" 401 ");
    }
  }

  @Test
  void aKeyIsReplacedWithoutARestart() throws Exception {
    try (Rig rig = rig(tree -> tree)) {
      Certificates.replace(file, KEY + "\nanother-key-of-operators\n");
      Rig.until(() -> isOpenTo(rig, "another-key-of-operators"));
      assertThat(isOpenTo(rig, KEY)).isTrue();
      Certificates.replace(file, "another-key-of-operators");
      Rig.until(() -> !isOpenTo(rig, KEY));
      Certificates.replace(file, "short");
      Rig.until(() ->
          askWith(rig, "another-key-of-operators", "GET /metrics")
              .contains("stale{file=\"admin.key-file\"} 1.0"));
      assertThat(isOpenTo(rig, "short")).isFalse();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"short", "a-key-of-operators\nshort"})
  void aKeyThatCouldBeGuessedIsRefusedAtTheStart(String key) {
    Certificates.replace(file, key);
    assertThatThrownBy(() -> rig(tree -> tree).close())
        .isInstanceOf(StartException.class)
        .hasMessageContaining("admin.key-file")
        .hasMessageContaining("at least 16 characters");
  }

  @ParameterizedTest
  @ValueSource(strings = {"evil.example", "evil.example:8081", "127.0.0.1.evil.example", ""})
  void withoutAKeyANameOfSomebodyElseIsRefused(String host) throws Exception {
    try (Rig rig = new Rig(1)) {
      String named = "host: " + host + "\r\nsec-fetch-site: same-origin\r\n";
      assertThat(ask(rig, "GET /admin/fleet", named)).contains(" 403 ");
      assertThat(ask(rig, "POST /admin/replicas/r0/drain", named)).contains(" 403 ");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"127.0.0.1:1", "localhost:8081", "[::1]:8081", "10.2.3.4"})
  void withoutAKeyAddressesAreTaken(String host) throws Exception {
    try (Rig rig = new Rig(1)) {
      assertThat(ask(rig, "GET /admin/fleet", "host: " + host + "\r\n")).contains(" 200 ");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"/admin/tokenizers/%zz/release", "/admin/replicas/%zz/drain"})
  void aPathThatIsNotEncodedIsAnswered(String path) throws Exception {
    try (Rig rig = new Rig(1)) {
      assertThat(ask(rig, "POST " + path, "")).containsPattern(" 40[04] ");
    }
  }

  private static boolean isOpenTo(Rig rig, String key) {
    return askWith(rig, key, "GET /admin/fleet").contains(" 200 ");
  }

  private static String askWith(Rig rig, String key, String asked) {
    try {
      return ask(rig, asked, "authorization: Bearer " + key + "\r\n");
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private static String ask(Rig rig, String asked, String headers) throws Exception {
    String host = headers.contains("host:") ? "" : "host: 127.0.0.1\r\n";
    try (RawClient client = new RawClient(rig.router.adminPort())) {
      client.write(
          asked
              + " HTTP/1.1\r\n"
              + host
              + headers
              + "content-length: 0\r\nconnection: close\r\n\r\n");
      return client.readToEnd();
    }
  }

  private Rig rig(UnaryOperator<ConfigTree> change) {
    return new Rig(
        1,
        tree ->
            change.apply(
                tree.set("admin.key-file", file.toString(), "test")
                    .set("files.poll-ms", 10, "test")));
  }
}
