package dev.warmpath.router.security;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.router.rig.Backend;
import dev.warmpath.router.rig.RawClient;
import dev.warmpath.router.rig.Rig;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.UpgradeRejectedException;
import io.vertx.core.http.WebSocketClient;
import io.vertx.core.http.WebSocketConnectOptions;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A key does for the least that a request can be read to ask for, over sockets. */
class WhomAKeyAdmitsTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  /** Stands for a prompt of a body that is long enough to be remembered. */
  private static final String LONG = "LONG";

  @TempDir private static Path folder;
  private static Rig rig;
  private static Backend backend;

  /** One that nobody holds is closed when garbage is collected, with its connections. */
  private static WebSocketClient client;

  @BeforeAll
  static void start() throws IOException {
    Path keys = folder.resolve("keys.yaml");
    Files.writeString(
        keys,
        "keys:\n"
            + key("all", "")
            + key("other", "")
            + key("only-m", "m")
            + key("m-and-n", "m, n")
            + key("fr", "m, 'm:fr'"));
    rig =
        new Rig(
            1,
            tree ->
                tree.set("auth.keys-file", keys.toString(), "test")
                    .put(
                        "models",
                        Map.of("name", "m", "tokenizer", "embedded", "aliases", List.of("alias")),
                        "test"));
    backend = rig.backends.get(0);
    client = rig.vertx().createWebSocketClient();
    backend.models =
        "{\"data\":[{\"id\":\"m\"},{\"id\":\"n\"},{\"id\":\"org/x y\"},{\"id\":\"alias\"}]}";
    Rig.until(() -> rig.router.fleet().find("r0").orElseThrow().serves("n"));
  }

  @AfterAll
  static void stop() {
    rig.close();
  }

  @BeforeEach
  void fresh() {
    backend.bodies.clear();
    backend.script = (request, body) -> request.response().end("{}");
    backend.onWebSocket = null;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"model\":\"n\",\"model\":\"m\",\"prompt\":\"p\"}",
        "{\"model\":\"m\",\"prompt\":\"p\",\"mod\\u0065l\":\"n\",\"model\":\"m\"}",
        "{\"model\":[\"n\"],\"model\":\"m\",\"prompt\":\"p\"}",
        "{\"model\":\"m\",\"prompt\":\"p\",\"lora_path\":\"fr\"}",
        "{\"lora_path\":[null,\"fr\"],\"model\":\"m\",\"prompt\":[\"p\",\"q\"]}",
        "{\"lora_path\":\"fr\",\"lora_path\":null,\"model\":\"m\",\"prompt\":\"p\"}",
        "{\"model\":\"m\",\"prompt\":\"p\",\"lora_path\":{\"a\":1}}",
        "{\"model\":\"m\",\"prompt\":\"p\",\"lora_id\":\"678c9802de1a5cea8cbfb4957918e862\"}",
        "{\"model\":\"m:fr\",\"prompt\":\"p\"}",
        "{\"model\":\"n\",\"prompt\":\"" + LONG + "\",\"model\":\"m\"}",
        "{\"model\":\"m\",\"prompt\":\"" + LONG + "\",\"lora_path\":\"fr\"}"
      })
  void aKeyMustDoForAllModelsThatABodyNames(String body) throws Exception {
    for (String path : List.of("/v1/completions", "/v1/embeddings")) {
      HttpResponse<byte[]> answer = post("only-m", path, body.replace(LONG, "x ".repeat(9_000)));
      assertThat(answer.statusCode()).as(path).isEqualTo(403);
      assertThat(new String(answer.body(), UTF_8)).contains("\"code\":\"model_not_allowed\"");
    }
    assertThat(backend.bodies).isEmpty();
  }

  @Test
  void aKeyThatDoesForAllOfThemDoes() throws Exception {
    String twice = "{\"model\":\"n\",\"model\":\"m\",\"prompt\":\"p\"}";
    assertThat(post("m-and-n", "/v1/completions", twice).statusCode()).isEqualTo(200);
    assertThat(post("all", "/v1/completions", twice).statusCode()).isEqualTo(200);
    String adapter = "{\"model\":\"m\",\"prompt\":\"p\",\"lora_path\":\"fr\"}";
    assertThat(post("fr", "/v1/completions", adapter).statusCode()).isEqualTo(200);
    assertThat(post("all", "/v1/completions", adapter).statusCode()).isEqualTo(200);
    for (String harmless :
        List.of(
            "{\"model\":\"m\",\"model\":\"m\"}",
            "{\"model\":\"alias\"}",
            "{\"model\":\"m\",\"lora_path\":null,\"x\":{\"model\":\"n\"}}")) {
      assertThat(post("only-m", "/v1/completions", harmless).statusCode())
          .as(harmless)
          .isEqualTo(200);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "?model=n",
        "?model=m&model=n",
        "?model=n&model=m",
        "?model=m&m%6fdel=n",
        "?model=m;model=n",
        "?x=1;model=m"
      })
  void aWebSocketNeedsOneModelThatTheKeyDoesFor(String query) throws Exception {
    assertThat(upgrade("only-m", "/v1/realtime" + query)).isEqualTo(403);
  }

  @Test
  void aWebSocketGoesWhereItsModelIs() throws Exception {
    backend.onWebSocket = socket -> {};
    assertThat(upgrade("only-m", "/v1/realtime?model=m")).isEqualTo(101);
    assertThat(upgrade("only-m", "/v1/realtime?x=1&model=alias&model=m")).isEqualTo(101);
    assertThat(upgrade("m-and-n", "/v1/realtime?model=m&model=n")).isEqualTo(101);
    assertThat(upgrade("all", "/v1/realtime")).isEqualTo(101);
    assertThat(upgrade("all", "/v1/realtime?model=m&model=x"))
        .as("of two models the last counts, as for engines")
        .isEqualTo(503);
  }

  @Test
  void aStoredResponseIsItsMakersAlone() throws Exception {
    String id = "resp_" + Long.toHexString(System.nanoTime());
    backend.script = (request, body) -> request.response().end("{\"id\":\"" + id + "\"}");
    assertThat(post("only-m", "/v1/responses", "{\"model\":\"m\",\"input\":\"a\"}").statusCode())
        .isEqualTo(200);
    backend.bodies.clear();
    backend.script = (request, body) -> request.response().end("{\"mine\":1}");

    for (String stranger : List.of("all", "other", "m-and-n")) {
      notFound(get(stranger, "/v1/responses/" + id));
      notFound(send(stranger, request("/v1/responses/" + id).DELETE()));
      notFound(post(stranger, "/v1/responses/" + id + "/cancel", ""));
      notFound(post(stranger, "/v1/responses", following(id)));
    }
    assertThat(backend.bodies).isEmpty();

    assertThat(get("only-m", "/v1/responses/" + id).statusCode()).isEqualTo(200);
    assertThat(post("only-m", "/v1/responses/" + id + "/cancel", "").statusCode()).isEqualTo(200);
    assertThat(post("only-m", "/v1/responses", following(id)).statusCode()).isEqualTo(200);
    HttpRequest.Builder delete = request("/v1/responses/" + id).DELETE();
    assertThat(send("only-m", delete).statusCode()).isEqualTo(200);
  }

  @Test
  void aResponseThatIsNotKnownIsNobodys() throws Exception {
    for (String name : List.of("all", "only-m")) {
      notFound(get(name, "/v1/responses/resp_unknown"));
      notFound(post(name, "/v1/responses", following("resp_unknown")));
      notFound(post(name, "/v1/responses", following("no id!")));
    }
    assertThat(backend.bodies).isEmpty();
  }

  @Test
  void nobodyTakesOverAResponseByGivingHisTheSameId() throws Exception {
    String id = "resp_taken" + Long.toHexString(System.nanoTime());
    backend.script = (request, body) -> request.response().end("{\"id\":\"" + id + "\"}");
    assertThat(post("all", "/v1/responses", "{\"model\":\"m\"}").statusCode()).isEqualTo(200);
    assertThat(post("other", "/v1/responses", "{\"model\":\"m\"}").statusCode()).isEqualTo(200);
    notFound(get("other", "/v1/responses/" + id));
    assertThat(get("all", "/v1/responses/" + id).statusCode()).isEqualTo(200);
  }

  @Test
  void aStreamedResponseIsItsMakersFromItsFirstEvent() throws Exception {
    String id = "resp_s" + Long.toHexString(System.nanoTime());
    backend.script = (request, body) -> began(request, body, id);
    try (RawClient client = new RawClient(rig.router.port())) {
      String body = "{\"model\":\"m\",\"stream\":true}";
      client.write(
          "POST /v1/responses HTTP/1.1\r\nhost: x\r\nauthorization: Bearer all\r\ncontent-length: "
              + body.length()
              + "\r\n\r\n"
              + body);
      client.readUntil(id);
      backend.script = (request, ignored) -> request.response().end("{}");
      assertThat(post("all", "/v1/responses/" + id + "/cancel", "").statusCode()).isEqualTo(200);
      notFound(post("other", "/v1/responses/" + id + "/cancel", ""));
    }
  }

  private static void began(HttpServerRequest request, Buffer body, String id) {
    request.response().setChunked(true).putHeader("content-type", "text/event-stream");
    request
        .response()
        .write(
            "event: response.created\ndata: {\"response\":{\"id\":\""
                + id
                + "\",\"usage\":null}}\n\n");
  }

  @Test
  void aModelThatTheKeyDoesNotForIsNotThere() throws Exception {
    assertThat(get("only-m", "/v1/models/m").statusCode()).isEqualTo(200);
    assertThat(get("only-m", "/v1/models/alias").statusCode()).isEqualTo(200);
    assertThat(get("m-and-n", "/v1/models/n").statusCode()).isEqualTo(200);
    HttpResponse<byte[]> hidden = get("only-m", "/v1/models/n");
    HttpResponse<byte[]> missing = get("only-m", "/v1/models/x");
    assertThat(hidden.statusCode()).isEqualTo(404);
    assertThat(new String(hidden.body(), UTF_8).replace("`n`", "`x`"))
        .isEqualTo(new String(missing.body(), UTF_8));
    assertThat(rig.get("/v1/models/m").statusCode()).as("without a key").isEqualTo(401);
  }

  private static String following(String id) {
    return "{\"model\":\"m\",\"input\":\"b\",\"previous_response_id\":\"" + id + "\"}";
  }

  private static void notFound(HttpResponse<byte[]> answer) throws IOException {
    assertThat(answer.statusCode()).isEqualTo(404);
    assertThat(JSON.readTree(answer.body()).path("error").path("code").asText())
        .isEqualTo("response_not_found");
  }

  private static int upgrade(String key, String path) throws Exception {
    WebSocketConnectOptions options =
        new WebSocketConnectOptions()
            .setHost("127.0.0.1")
            .setPort(rig.router.port())
            .setURI(path)
            .addHeader("authorization", "Bearer " + key);
    try {
      client
          .connect(options)
          .compose(socket -> socket.close())
          .toCompletionStage()
          .toCompletableFuture()
          .get(Rig.PATIENCE.toSeconds(), TimeUnit.SECONDS);
      return 101;
    } catch (ExecutionException e) {
      return ((UpgradeRejectedException) e.getCause()).getStatus();
    }
  }

  private static HttpResponse<byte[]> get(String key, String path) throws Exception {
    return send(key, request(path));
  }

  private static HttpResponse<byte[]> post(String key, String path, String body) throws Exception {
    return send(key, rig.post(path, body.getBytes(UTF_8)));
  }

  private static HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(rig.uri(path)).timeout(Rig.PATIENCE);
  }

  private static HttpResponse<byte[]> send(String key, HttpRequest.Builder request)
      throws Exception {
    return rig.send(request.header("authorization", "Bearer " + key).build());
  }

  private static String key(String name, String models) {
    return "  - {name: %s, sha256: [%s], models: [%s]}\n"
        .formatted(name, Secrets.hash(name), models);
  }
}
