package dev.warmpath.router.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.rig.RawClient;
import dev.warmpath.router.rig.Rig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pages of other origins that may call the router, and those that may not. */
class CorsTest {

  private static final String PAGE = "https://app.example";
  private static final String KEYS = "keys:\n  - name: a\n    sha256: [" + "0".repeat(64) + "]\n";

  @TempDir Path folder;

  @Test
  void allowedPageMayCallAndReadErrorsToo() throws Exception {
    Path keys = Files.writeString(folder.resolve("keys.yaml"), KEYS);
    try (Rig rig =
        new Rig(
            1,
            tree ->
                cors(tree, PAGE, "http://localhost:3000")
                    .set("auth.keys-file", keys.toString(), "test"))) {
      assertThat(preflight(rig, PAGE, "/v1/chat/completions"))
          .startsWith("HTTP/1.1 204 ")
          .contains("access-control-allow-origin: " + PAGE + "\r\n")
          .contains("access-control-allow-methods: POST\r\n")
          .contains("access-control-allow-headers: authorization,content-type\r\n")
          .contains("access-control-max-age: ")
          .contains("vary: origin\r\n")
          .doesNotContain("allow-credentials");
      assertThat(post(rig, "http://localhost:3000", "/v1/completions"))
          .startsWith("HTTP/1.1 401 ")
          .contains("access-control-allow-origin: http://localhost:3000\r\n")
          .contains("access-control-expose-headers: x-request-id, ");
      assertThat(preflight(rig, PAGE, "/v1/none")).startsWith("HTTP/1.1 404 ");
      assertThat(rig.backends.get(0).headers).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "https://evil.example",
        "http://app.example",
        "https://app.example:1",
        "https://app.example.evil",
        "null"
      })
  void otherPagesMayNot(String origin) throws Exception {
    try (Rig rig = new Rig(1, tree -> cors(tree, PAGE))) {
      assertThat(preflight(rig, origin, "/v1/completions"))
          .startsWith("HTTP/1.1 405 ")
          .contains("vary: origin\r\n")
          .doesNotContain("access-control");
      assertThat(post(rig, origin, "/v1/completions"))
          .startsWith("HTTP/1.1 200 ")
          .doesNotContain("access-control");
    }
  }

  @Test
  void anyPageMayIfTheStarIsSet() throws Exception {
    try (Rig rig = new Rig(1, tree -> cors(tree, "*"))) {
      rig.backends.get(0).script =
          (request, body) ->
              request.response().putHeader("access-control-allow-origin", "theirs").end("{}");
      assertThat(post(rig, "https://any.example", "/v1/completions"))
          .startsWith("HTTP/1.1 200 ")
          .contains("access-control-allow-origin: *\r\n")
          .doesNotContain("theirs", "vary: origin");
      assertThat(preflight(rig, "https://any.example", "/v1/models"))
          .contains("access-control-allow-methods: GET, HEAD\r\n");
    }
  }

  @Test
  void reloadChangesIt() throws Exception {
    try (Rig rig = new Rig(1)) {
      assertThat(preflight(rig, PAGE, "/v1/completions")).startsWith("HTTP/1.1 405 ");
      rig.write(tree -> cors(tree, PAGE));
      assertThat(rig.router.reload("test").problems()).isEmpty();
      assertThat(preflight(rig, PAGE, "/v1/completions")).startsWith("HTTP/1.1 204 ");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"app.example", "https://app.example/", "https://*.example", "", "ftp://a"})
  void whatIsNoOriginIsRefused(String origin) {
    assertThatThrownBy(() -> cors(ConfigTree.empty(), origin).config())
        .hasMessageContaining("listen.cors");
  }

  private static ConfigTree cors(ConfigTree tree, String... origins) {
    return tree.set("listen.cors", List.of(origins), "test");
  }

  private static String preflight(Rig rig, String origin, String path) throws IOException {
    return answer(
        rig,
        "OPTIONS "
            + path
            + " HTTP/1.1\r\nhost: x\r\norigin: "
            + origin
            + "\r\naccess-control-request-method: POST\r\n"
            + "access-control-request-headers: authorization,content-type\r\n"
            + "connection: close\r\n\r\n");
  }

  private static String post(Rig rig, String origin, String path) throws IOException {
    return answer(
        rig,
        "POST "
            + path
            + " HTTP/1.1\r\nhost: x\r\norigin: "
            + origin
            + "\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}");
  }

  private static String answer(Rig rig, String sent) throws IOException {
    try (RawClient client = new RawClient(rig.router.port())) {
      return client.write(sent).readToEnd();
    }
  }
}
