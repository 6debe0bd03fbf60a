package dev.warmpath.router.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.rig.Backend;
import dev.warmpath.router.rig.RawClient;
import dev.warmpath.router.rig.RawHttp2;
import dev.warmpath.router.rig.Rig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What heads of requests may say, as RFC 9110 and RFC 9112 have it. */
class RequestHeadsTest {

  private static final String BODY = "{}";
  private static final String LENGTH = "content-length: 2\r\n";
  private static final String POST = "POST /v1/completions HTTP/1.1\r\nhost: x\r\n";

  private static Rig rig;
  private static Backend backend;

  @BeforeAll
  static void start() {
    rig = new Rig(1, RequestHeadsTest::configured);
    backend = rig.backends.get(0);
  }

  private static ConfigTree configured(ConfigTree tree) {
    return tree.set("limits.header-bytes", 4_096, "test")
        .set("limits.body-bytes", 1_000, "test")
        .set("listen.http2", true, "test")
        .set("timeouts.keep-alive-ms", 500, "test");
  }

  @AfterAll
  static void stop() {
    rig.close();
  }

  @BeforeEach
  void fresh() {
    backend.bodies.clear();
    backend.headers.clear();
    backend.uris.clear();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://router/v1/completions?a=b",
        "HTTP://router:8080/v1/completions?a=b",
        "https://[::1]:8080/v1/completions?a=b",
        "http://my_engine.example/v1/completions?a=b",
        "http://router:/v1/completions?a=b"
      })
  void anAbsoluteTargetLeadsWhereItsPathDoes(String target) throws Exception {
    for (String host : List.of("router", "other.example", "")) {
      assertThat(answer("POST " + target + " HTTP/1.1\r\nhost: " + host + "\r\n" + LENGTH, BODY))
          .startsWith("HTTP/1.1 200 ");
    }
    assertThat(backend.uris).hasSize(3).containsOnly("/v1/completions?a=b");
    assertThat(backend.headers)
        .allSatisfy(seen -> assertThat(seen.get("host")).isEqualTo("127.0.0.1:" + backend.port()));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://user@router/v1/completions",
        "http://user:x@router/v1/completions",
        "ftp://router/v1/completions",
        "ws://router/v1/completions",
        "file:///v1/completions",
        "http:///v1/completions",
        "http:/v1/completions",
        "http:v1/completions",
        "//router/v1/completions",
        "http://router\\/v1/completions",
        "http://router:80:80/v1/completions",
        "http://router:x/v1/completions",
        "http://a,b /v1/completions",
        "http://router#/v1/completions",
        "http://router?/v1/completions",
        "/v1/completions#x",
        "http://router",
        "router:80",
        "*"
      })
  void otherTargetsLeadNowhere(String target) throws Exception {
    assertThat(answer("POST " + target + " HTTP/1.1\r\nhost: x\r\n" + LENGTH, BODY))
        .containsPattern("^HTTP/1\\.[01] (400|404) ")
        .contains("{\"error\":{\"message\":");
    assertThat(backend.bodies).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "host: x\r\nhost: x\r\n",
        "host: x\r\nHost: y\r\n",
        "",
        "host: x, y\r\n/: a\r\n",
        "host: x/v1\r\n",
        "host: u@x\r\n",
        "host: x y\r\n",
        "host: x\r\n: a\r\n",
        "host: x\r\n:\r\n",
        "host: x\r\n : a\r\n: b\r\n"
      })
  void aHeadWithoutOneHostOrWithANamelessHeaderIsRefused(String headers) throws Exception {
    double before = rejected("bad_request");
    assertThat(answer("POST /v1/completions HTTP/1.1\r\n" + headers + LENGTH, BODY))
        .containsPattern("^HTTP/1\\.[01] 400 ")
        .containsIgnoringCase("\r\nconnection: close\r\n")
        .contains("\"code\":\"bad_request\"");
    assertThat(backend.bodies).isEmpty();
    assertThat(rejected("bad_request")).isEqualTo(before + 1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"host:\r\n", "host: [::1]:8080\r\n", "Host: a_b.c~d:1\r\n"})
  void oneHostIsEnough(String headers) throws Exception {
    assertThat(answer("POST /v1/completions HTTP/1.1\r\n" + headers + LENGTH, BODY))
        .startsWith("HTTP/1.1 200 ");
  }

  @Test
  void anOldClientNeedsNone() throws Exception {
    assertThat(answer("POST /v1/completions HTTP/1.0\r\n" + LENGTH, BODY))
        .containsPattern("^HTTP/1\\.[01] 200 ");
  }

  static List<List<String>> unreadable() {
    String chunked = POST + "transfer-encoding: chunked\r\n\r\n";
    return List.of(
        List.of("431", "headers_too_large", POST + "x: " + "y".repeat(5_000) + "\r\n\r\n"),
        List.of("431", "headers_too_large", POST + "x: y\r\n".repeat(2_000) + "\r\n\r\n"),
        List.of("414", "uri_too_long", "GET /" + "y".repeat(5_000) + " HTTP/1.1\r\n\r\n"),
        List.of("505", "http_version_unsupported", POST.replace("1.1", "9.9") + "\r\n"),
        List.of("505", "http_version_unsupported", POST.replace("1.1", "2.0") + "\r\n"),
        List.of("400", "bad_request", POST.replace("\r\n", "\n") + "\n"),
        List.of("400", "bad_request", POST + "x y: 1\r\n\r\n"),
        List.of("400", "bad_request", POST + "content-length: 1\r\ncontent-length: 2\r\n\r\n"),
        List.of("400", "bad_request", "GET /v1/models\r\n\r\n"),
        List.of("400", "bad_request", chunked + "zz\r\n"),
        List.of("400", "bad_request", chunked + "-1\r\n"),
        List.of("400", "bad_request", chunked + "1\n{\r\n"),
        List.of("400", "bad_request", chunked + "2\r\n{}XX0\r\n\r\n"));
  }

  @ParameterizedTest
  @MethodSource("unreadable")
  void whatTheHttpLayerCannotReadIsToldAndCounted(List<String> row) throws Exception {
    double before = rejected(row.get(1));
    assertThat(answer(row.get(2)))
        .containsPattern("^HTTP/1\\.[01] " + row.get(0) + " ")
        .containsIgnoringCase("\r\nconnection: close\r\n")
        .contains("content-type: application/json")
        .contains("{\"error\":{\"message\":")
        .contains("\"code\":\"" + row.get(1) + "\"");
    assertThat(rejected(row.get(1))).isEqualTo(before + 1);
    rig.untilIdle();
    assertThat(backend.bodies).isEmpty();
  }

  @Test
  void theAdminPortRefusesTheSame() throws Exception {
    for (String head :
        List.of(
            "GET /admin/fleet HTTP/1.1\r\n\r\n",
            "GET /admin/fleet HTTP/1.1\r\nhost: 127.0.0.1\r\nhost: 127.0.0.1\r\n\r\n",
            "GET http://u@127.0.0.1/admin/fleet HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n",
            "GET /admin/fleet HTTP/1.1\r\nx: " + "y".repeat(5_000) + "\r\n\r\n")) {
      assertThat(admin(head))
          .containsPattern("^HTTP/1\\.[01] 400 ")
          .contains("{\"error\":{\"message\":");
    }
    String local = "\r\nhost: 127.0.0.1\r\nconnection: TE, close\r\n\r\n";
    assertThat(admin("GET http://127.0.0.1/admin/fleet HTTP/1.1" + local))
        .startsWith("HTTP/1.1 200 ");
    assertThat(admin("GET http://evil.example/admin/fleet HTTP/1.1" + local))
        .as("its host stands for the header")
        .startsWith("HTTP/1.1 403 ");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "connection: close\r\n",
        "connection: TE, close\r\nte: trailers\r\n",
        "Connection: close , x-a\r\nx-a: 1\r\n",
        "connection: x-a\r\nconnection: Close\r\nx-a: 1\r\n",
        "connection: keep-alive, close\r\n"
      })
  void aClientThatWantsTheEndGetsIt(String headers) throws Exception {
    try (RawClient client = new RawClient(rig.router.port())) {
      client.write(POST + headers + LENGTH + "\r\n" + BODY + POST + LENGTH + "\r\n" + BODY);
      assertThat(client.readToEnd())
          .startsWith("HTTP/1.1 200 ")
          .containsIgnoringCase("\r\nconnection: close\r\n")
          .containsOnlyOnce("HTTP/1.1");
    }
    assertThat(backend.bodies).hasSize(1);
    assertThat(backend.headers.get(0)).doesNotContainKeys("te", "x-a");
  }

  @Test
  void aBodyIsAskedForOnlyWhenItWillBeTaken() throws Exception {
    String expecting = "expect: 100-continue\r\n";
    try (RawClient client = new RawClient(rig.router.port())) {
      client.write(POST + expecting + LENGTH + "\r\n").readUntil("HTTP/1.1 100 Continue\r\n\r\n");
      assertThat(client.write(BODY).readUntil("{}")).startsWith("HTTP/1.1 200 ");
    }
    assertThat(answerHead(POST + expecting + "content-length: 1001\r\n\r\n"))
        .startsWith("HTTP/1.1 413 ")
        .containsIgnoringCase("\r\nconnection: close\r\n");
    assertThat(answerHead(POST.replace("completions", "none") + expecting + LENGTH + "\r\n"))
        .startsWith("HTTP/1.1 404 ");
    assertThat(answerHead(POST.replace("POST", "PUT") + expecting + LENGTH + "\r\n"))
        .startsWith("HTTP/1.1 405 ");
    assertThat(answerHead(POST + "expect: x\r\n" + LENGTH + "\r\n"))
        .startsWith("HTTP/1.1 417 ")
        .contains("expectation_failed");
    assertThat(answerHead(POST + "expect: 100-continue, x\r\n" + LENGTH + "\r\n"))
        .startsWith("HTTP/1.1 417 ");
    assertThat(answer(POST.replace("1.1", "1.0") + "expect: x\r\n" + LENGTH, BODY))
        .containsPattern("^HTTP/1\\.[01] 200 ");
  }

  @Test
  void aBodyIsNotAskedForWithoutAKey(@TempDir Path folder) throws Exception {
    String keys = "keys:\n  - name: a\n    sha256: [" + "0".repeat(64) + "]\n";
    Path file = Files.writeString(folder.resolve("keys.yaml"), keys);
    try (Rig locked = new Rig(1, tree -> tree.set("auth.keys-file", file.toString(), "test"));
        RawClient client = new RawClient(locked.router.port())) {
      client.write(POST + "expect: 100-continue\r\n" + LENGTH + "\r\n");
      assertThat(client.readUntil("\r\n\r\n")).startsWith("HTTP/1.1 401 ");
    }
  }

  @Test
  void overHttp2ABodyIsAskedForToo() throws Exception {
    try (RawClient client = new RawClient(rig.router.port())) {
      client.write(
          RawHttp2.connection().post(1, "/v1/completions", "expect", "100-continue").bytes());
      Rig.until(() -> rig.router.serving() == 1);
      client.write(new RawHttp2().data(1, BODY).frame(0, 1, 1).bytes());
      Rig.until(() -> backend.bodies.size() == 1);
      rig.untilIdle();
    }
  }

  @Test
  void whatIsEchoedIsBounded(@TempDir Path folder) throws Exception {
    Path access = folder.resolve("access.jsonl");
    Path decisions = folder.resolve("decisions.jsonl");
    String model = "z".repeat(1 << 20);
    String found;
    try (Rig logged =
        new Rig(
            1,
            tree ->
                tree.set("access-log.file", access.toString(), "test")
                    .set("tokenizing.deadline-ms", 10_000, "test")
                    .set("decision-log.file", decisions.toString(), "test"))) {
      found = new String(logged.chat("{\"model\":\"" + model + "\"}").body());
      RawClient client = new RawClient(logged.router.port());
      client.write("Q".repeat(5_000) + " /" + "p".repeat(5_000) + " HTTP/1.1\r\nhost: x\r\n");
      client.write("x-request-id: " + "i".repeat(5_000) + "\r\nconnection: close\r\n\r\n");
      assertThat(client.readToEnd()).startsWith("HTTP/1.1 404 ");
      client.close();
      client = new RawClient(logged.router.port());
      client.write("GET /v1/realtime?model=" + "r".repeat(5_000) + " HTTP/1.1\r\nhost: x\r\n");
      client.write("upgrade: websocket\r\nconnection: upgrade\r\n\r\n");
      assertThat(client.readUntil("\r\n")).startsWith("HTTP/1.1 503 ");
      client.close();
      logged.untilIdle();
    }
    assertThat(found.length()).isLessThan(1_000);
    assertThat(found).contains("model_not_found").contains("zzzz");
    for (Path log : List.of(access, decisions)) {
      assertThat(Files.readAllLines(log)).allMatch(line -> line.length() < 1_500);
    }
    assertThat(Files.readAllLines(access)).hasSize(3);
    assertThat(Files.readString(decisions)).contains("zzzz");
  }

  private static double rejected(String code) {
    return rig.metrics().getOrDefault("warmpath_rejected_total{code=\"" + code + "\"}", 0.0);
  }

  /** All that comes back until the router closes. */
  private static String answer(String head, String body) throws IOException {
    return answer(head + "connection: close\r\n\r\n" + body);
  }

  private static String answer(String sent) throws IOException {
    try (RawClient client = new RawClient(rig.router.port())) {
      return client.write(sent).readToEnd();
    }
  }

  /** The first head that comes back. */
  private static String answerHead(String sent) throws IOException {
    try (RawClient client = new RawClient(rig.router.port())) {
      return client.write(sent).readUntil("}}");
    }
  }

  private static String admin(String sent) throws IOException {
    try (RawClient client = new RawClient(rig.router.adminPort())) {
      return client.write(sent).readToEnd();
    }
  }
}
