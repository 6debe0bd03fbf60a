package dev.warmpath.router.proxy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.rig.Backend;
import dev.warmpath.router.rig.Rig;
import io.vertx.core.buffer.Buffer;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which paths go to a replica, and to which. */
class PathsTest {

  private static final String BODY = "{ \"model\" : \"m\", \"input\": [\"a\", 1.0e2] }";

  @Test
  void pathsOfEnginesGoThereAsTheyCame() throws Exception {
    try (Rig rig = new Rig(2)) {
      List<String> seen = record(rig);
      List<String> paths =
          List.of(
              "/v1/embeddings",
              "/v1/rerank",
              "/v2/rerank",
              "/rerank",
              "/v1/score",
              "/score",
              "/pooling",
              "/classify",
              "/v1/audio/transcriptions",
              "/v1/audio/translations",
              "/tokenize",
              "/detokenize");
      for (String path : paths) {
        HttpResponse<byte[]> response = rig.send(rig.post(path, BODY.getBytes(UTF_8)).build());
        assertThat(response.statusCode()).as(path).isEqualTo(200);
        assertThat(new String(response.body(), UTF_8)).isEqualTo(BODY);
        assertThat(rig.get(path).statusCode()).as("GET " + path).isEqualTo(405);
      }
      assertThat(rig.get("/version").statusCode()).isEqualTo(200);
      assertThat(seen).hasSize(13).startsWith("POST /v1/embeddings").endsWith("GET /version");
      byte[] other = "{\"model\":\"x\",\"input\":\"a\"}".getBytes(UTF_8);
      HttpResponse<byte[]> unknown = rig.send(rig.post("/v1/embeddings", other).build());
      assertThat(new String(unknown.body(), UTF_8)).contains("model_not_found");
      rig.untilIdle();
      assertThat(rig.metrics())
          .containsEntry(
              "warmpath_requests_total{ending=\"complete\",path=\"/version\",status=\"200\"}", 1.0);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/collective_rpc",
        "/sleep",
        "/reset_prefix_cache",
        "/v1/load_lora_adapter",
        "/generate",
        "/v1/embeddings/",
        "/V1/embeddings",
        "//v1/embeddings",
        "/v1/x/../embeddings",
        "/v1/responses/",
        "/v1/responses/a/b",
        "/v1/responses/a%2fb",
        "/v1/responses/..",
        "/v1/responses/cancel/cancel/cancel",
        "/v1/responses//cancel"
      })
  void otherPathsGoNowhere(String path) throws Exception {
    try (Rig rig = new Rig(1)) {
      List<String> seen = record(rig);
      assertThat(rig.send(rig.post(path, BODY.getBytes(UTF_8)).build()).statusCode())
          .isEqualTo(404);
      assertThat(seen).isEmpty();
    }
  }

  @Test
  void oneModelIsShownByItsName() throws Exception {
    try (Rig rig = new Rig(2)) {
      rig.backends.get(0).models =
          "{\"data\":[{\"id\":\"m\"},{\"id\":\"org/a"
              + " b\",\"max_model_len\":9},{\"id\":\"\u00e9%\"}]}";
      Rig.until(() -> rig.router.fleet().replicas().get(0).serves("org/a b"));
      for (String path : List.of("org/a%20b", "org%2fa%20b", "org%2Fa%20b", "%6frg/a%20b")) {
        HttpResponse<byte[]> found = rig.get("/v1/models/" + path);
        assertThat(found.statusCode()).as(path).isEqualTo(200);
        assertThat(new String(found.body(), UTF_8))
            .isEqualTo("{\"id\":\"org/a b\",\"max_model_len\":9}");
      }
      assertThat(rig.get("/v1/models/m").headers().firstValue("content-type"))
          .contains("application/json");
      assertThat(rig.get("/v1/models/%C3%A9%25").statusCode()).isEqualTo(200);
      HttpRequest head =
          HttpRequest.newBuilder(rig.uri("/v1/models/m"))
              .method("HEAD", HttpRequest.BodyPublishers.noBody())
              .build();
      assertThat(rig.send(head).statusCode()).isEqualTo(200);
      for (String path : List.of("x", "org", "org%252fa%20b", "m/", "%C3", "%00", "org/a+b")) {
        HttpResponse<byte[]> missing = rig.get("/v1/models/" + path);
        assertThat(missing.statusCode()).as(path).isEqualTo(404);
        assertThat(new String(missing.body(), UTF_8)).contains("\"code\":\"model_not_found\"");
      }
      assertThat(rig.get("/v1/models/").statusCode()).isEqualTo(404);
      HttpRequest delete = HttpRequest.newBuilder(rig.uri("/v1/models/m")).DELETE().build();
      assertThat(rig.send(delete).statusCode()).isEqualTo(405);
    }
    try (Rig rig = new Rig(0)) {
      assertThat(rig.get("/v1/models/m").statusCode()).isEqualTo(503);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/v1/responses",
        "/v1/chat/completions",
        "/v1/messages",
        "/v1/completions",
        "/v1/audio/transcriptions"
      })
  void whoTriesAWebSocketFirstIsToldToPost(String path) throws Exception {
    try (Rig rig = new Rig(1);
        var client = new dev.warmpath.router.rig.RawClient(rig.router.port())) {
      List<String> seen = record(rig);
      client.write("GET " + path + " HTTP/1.1\r\nhost: x\r\n");
      client.write("connection: Upgrade\r\nupgrade: WebSocket\r\nsec-websocket-version: 13\r\n");
      client.write("sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
      String answer = client.readUntil("}}");
      assertThat(answer)
          .startsWith("HTTP/1.1 426 ")
          .containsIgnoringCase("\r\nupgrade: HTTP/1.1\r\n");
      client.post(path, BODY);
      client.readUntil(BODY);
      client.write("GET " + path + " HTTP/1.1\r\nhost: x\r\n\r\n");
      assertThat(client.readUntil("}}"))
          .startsWith("HTTP/1.1 405 ")
          .containsIgnoringCase("allow: POST");
      assertThat(seen).containsExactly("POST " + path);
    }
  }

  @Test
  void whoMustOpenAWebSocketIsToldSo() throws Exception {
    try (Rig rig = new Rig(1);
        var client = new dev.warmpath.router.rig.RawClient(rig.router.port())) {
      client.write("GET /v1/realtime HTTP/1.1\r\nhost: x\r\n\r\n");
      assertThat(client.readUntil("}}"))
          .startsWith("HTTP/1.1 426 ")
          .containsIgnoringCase("\r\nupgrade: websocket\r\n")
          .containsIgnoringCase("\r\nconnection: upgrade\r\n");
    }
  }

  @Test
  void listedPathsGoUpWithTheirMethods() throws Exception {
    List<String> paths = List.of("/generate", "GET /info", "POST /info", "/health");
    try (Rig rig = new Rig(1, tree -> tree.set("listen.paths", paths, "test"))) {
      List<String> seen = record(rig);
      assertThat(rig.send(rig.post("/generate", new byte[3]).build()).statusCode()).isEqualTo(200);
      assertThat(rig.get("/generate").headers().firstValue("allow")).contains("POST");
      assertThat(rig.get("/info").statusCode()).isEqualTo(200);
      assertThat(rig.send(rig.post("/info", new byte[0]).build()).statusCode()).isEqualTo(200);
      assertThat(rig.get("/health").body()).asString().contains("replicas");
      assertThat(rig.get("/generate/x").statusCode()).isEqualTo(404);
      assertThat(seen).containsExactly("POST /generate", "GET /info", "POST /info");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/sleep",
        "POST /collective_rpc",
        "/a/../b",
        "generate",
        "/a*",
        "PATCH /a",
        "/a?b"
      })
  void whatControlsAnEngineOrIsNoPathCannotBeListed(String path) {
    ConfigTree tree = ConfigTree.empty().set("listen.paths", List.of(path), "test");
    assertThatThrownBy(tree::config).isInstanceOf(ConfigException.class).hasMessageContaining(path);
  }

  @Test
  void responsesGoOnWhereTheyBegan() throws Exception {
    try (Rig rig = new Rig(3)) {
      name(rig);
      for (int i = 0; i < 6; i++) {
        String maker = post(rig, "/v1/responses", "{\"model\":\"m\",\"input\":\"a\"}");
        String id = "resp_" + maker;
        String next = "{\"model\":\"m\",\"input\":\"b\",\"previous_response_id\":\"" + id + "\"}";
        assertThat(post(rig, "/v1/responses", next)).isEqualTo(maker);
        assertThat(replica(rig.get("/v1/responses/" + id))).isEqualTo(maker);
        assertThat(post(rig, "/v1/responses/" + id + "/cancel", "")).isEqualTo(maker);
        HttpRequest delete =
            HttpRequest.newBuilder(rig.uri("/v1/responses/" + id)).DELETE().build();
        assertThat(replica(rig.send(delete))).isEqualTo(maker);
      }
      Set<String> any = new TreeSet<>();
      for (int i = 0; i < 3; i++) {
        any.add(replica(rig.get("/v1/responses/unknown")));
      }
      assertThat(any).containsExactly("r0", "r1", "r2");
      assertThat(rig.metrics())
          .containsEntry("warmpath_stored_responses", 3.0)
          .containsEntry("warmpath_stored_response_lookups_total{result=\"found\"}", 24.0)
          .containsEntry("warmpath_stored_response_lookups_total{result=\"unknown\"}", 3.0);
    }
  }

  @Test
  void streamedResponsesAreKnownBeforeTheirEnd() throws Exception {
    try (Rig rig = new Rig(2)) {
      for (Backend backend : rig.backends) {
        backend.script =
            (request, body) -> {
              request.response().setChunked(true).putHeader("content-type", "text/event-stream");
              request
                  .response()
                  .write(
                      "event: response.created\n"
                          + "data: {\"response\":{\"id\":\"resp_s\",\"usage\":null}}\n\n"
                          + "event: response.output_text.delta\n"
                          + "data: {\"delta\":\"a\"}\n\n");
            };
      }
      try (var client = new dev.warmpath.router.rig.RawClient(rig.router.port())) {
        client.post("/v1/responses", "{\"stream\":true}");
        String head = client.readUntil("delta");
        name(rig);
        String maker = head.contains("replica: r0") ? "r0" : "r1";
        for (int i = 0; i < 3; i++) {
          assertThat(post(rig, "/v1/responses/resp_s/cancel", "")).isEqualTo(maker);
        }
      }
    }
  }

  @Test
  void responseOfAReplicaThatIsNotWellIsStillAskedForThere() throws Exception {
    try (Rig rig = new Rig(2)) {
      name(rig);
      String maker = post(rig, "/v1/responses", "{}");
      int lost = maker.equals("r0") ? 0 : 1;
      rig.backends.get(lost).health = 500;
      Rig.until(() -> rig.router.fleet().replicas().get(lost).health() == Replica.Health.DOWN);
      assertThat(replica(rig.get("/v1/responses/resp_" + maker))).isEqualTo(maker);
    }
  }

  @Test
  void rememberedResponsesAreBounded() throws Exception {
    try (Rig rig = new Rig(1, tree -> tree.set("limits.stored-responses", 2, "test"))) {
      for (int i = 0; i < 4; i++) {
        String id = "{\"id\":\"resp_" + i + "\"}";
        rig.backends.get(0).script = (request, body) -> request.response().end(id);
        post(rig, "/v1/responses", "{}");
      }
      post(rig, "/v1/completions", "{}");
      assertThat(rig.metrics())
          .containsEntry("warmpath_stored_responses", 2.0)
          .containsEntry("warmpath_stored_responses_limit", 2.0);
    }
  }

  /** Has every backend give back what it got, and notes the paths. */
  private static List<String> record(Rig rig) {
    List<String> seen = new CopyOnWriteArrayList<>();
    for (Backend backend : rig.backends) {
      backend.script =
          (request, body) -> {
            seen.add(request.method() + " " + request.path());
            request.response().end(body);
          };
    }
    return seen;
  }

  /** Has every backend answer with an id that holds its name. */
  private static void name(Rig rig) {
    List<Backend> backends = new ArrayList<>(rig.backends);
    for (int i = 0; i < backends.size(); i++) {
      Buffer answer = Buffer.buffer("{\"id\":\"resp_r" + i + "\",\"usage\":{\"input_tokens\":1}}");
      backends.get(i).script = (request, body) -> request.response().end(answer);
    }
  }

  private static String post(Rig rig, String path, String body) throws Exception {
    return replica(rig.send(rig.post(path, body.getBytes(UTF_8)).build()));
  }

  private static String replica(HttpResponse<byte[]> response) {
    assertThat(response.statusCode()).isEqualTo(200);
    return response.headers().firstValue("x-warmpath-replica").orElseThrow();
  }
}
