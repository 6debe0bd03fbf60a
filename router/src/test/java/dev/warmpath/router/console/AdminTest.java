package dev.warmpath.router.console;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.rig.RawClient;
import dev.warmpath.router.rig.Rig;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AdminTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  @Test
  void fleetShowsReplicasAndWhatRunsThere() throws Exception {
    try (Rig rig = new Rig(2)) {
      rig.backends.forEach(b -> b.script = (request, body) -> {});
      try (RawClient client = new RawClient(rig.router.port())) {
        client.post("/v1/completions", "{\"model\":\"m\"}");
        Rig.until(() -> rig.inFlight() == 1);
        JsonNode fleet = JSON.readTree(get(rig, "/admin/fleet").body());
        assertThat(fleet.path("policy").asText()).isEqualTo("round-robin");
        assertThat(fleet.path("stage").asText()).isEqualTo("open");
        assertThat(fleet.path("requestsServing").asInt()).isEqualTo(1);
        assertThat(fleet.path("replicas")).hasSize(2);
        JsonNode replica = fleet.path("replicas").get(0);
        assertThat(replica.path("name").asText()).isEqualTo("r0");
        assertThat(replica.path("url").asText()).isEqualTo(rig.backends.get(0).url());
        assertThat(replica.path("health").asText()).isEqualTo("up");
        assertThat(replica.path("models").get(0).asText()).isEqualTo("m");
        assertThat(replica.path("engines").get(0).path("events").isNull()).isTrue();
        assertThat(fleet.findValues("requestsInFlight").stream().mapToInt(JsonNode::asInt).sum())
            .isEqualTo(1);
      }
    }
  }

  @Test
  void theRouterItselfIsNoReplicaOfItsOwn() throws Exception {
    try (Socket reserved = Rig.reserved();
        Rig rig = new Rig(0, tree -> tree.set("listen.port", reserved.getLocalPort(), "test"))) {
      int port = rig.router.port();
      String replica = "{\"name\":\"self\",\"url\":\"http://localhost:" + port + "\"}";
      HttpRequest request =
          HttpRequest.newBuilder(
                  URI.create("http://127.0.0.1:" + rig.router.adminPort() + "/admin/replicas"))
              .timeout(Rig.PATIENCE)
              .header("content-type", "application/json")
              .POST(HttpRequest.BodyPublishers.ofString(replica))
              .build();
      HttpResponse<byte[]> answer = rig.send(request);
      assertThat(answer.statusCode()).isBetween(400, 499);
      assertThat(new String(answer.body(), UTF_8)).contains("the router's own address");
      assertThat(rig.router.fleet().replicas()).isEmpty();
    }
  }

  @Test
  void explainSaysWhoWouldWinAndReservesNothing() throws Exception {
    try (Rig rig = new Rig(2, AdminTest::withTokenizer)) {
      String body = "{\"model\":\"m\",\"prompt\":\"one two three\"}";
      for (int i = 0; i < 3; i++) {
        JsonNode answer = JSON.readTree(explain(rig, body).body());
        assertThat(answer.path("kind").asText()).isEqualTo("completion");
        assertThat(answer.path("prompt").path("exact").asBoolean()).isTrue();
        assertThat(answer.path("prompt").path("tokens").asInt()).isPositive();
        assertThat(answer.path("policy").asText()).isEqualTo("warm");
        assertThat(answer.path("engines")).hasSize(2);
        assertThat(answer.path("engines").get(0).path("terms").size()).isPositive();
        assertThat(answer.path("engines").get(0).path("trust").asText()).isEqualTo("none");
        String winner = answer.path("winner").asText();
        assertThat(winner).startsWith("r");
        assertThat(answer.toString()).doesNotContain("two");
        HttpResponse<byte[]> real =
            rig.send(rig.post("/v1/completions", body.getBytes(UTF_8)).build());
        assertThat(real.headers().firstValue("x-warmpath-replica")).contains(winner);
      }
      rig.untilIdle();
      assertThat(rig.backends.get(0).bodies.size() + rig.backends.get(1).bodies.size())
          .isEqualTo(3);
    }
  }

  @Test
  void explainKnowsTheSession() throws Exception {
    try (Rig rig = new Rig(4, tree -> tree.set("policy.name", "consistent-hash", "test"))) {
      String body = "{\"model\":\"m\"}";
      for (String session : List.of("a", "b", "c", "d", "e", "f")) {
        JsonNode named = JSON.readTree(explain(rig, "?session=" + session, body).body());
        HttpRequest.Builder asked =
            HttpRequest.newBuilder(uri(rig, "/admin/explain"))
                .header("x-session-id", session)
                .POST(HttpRequest.BodyPublishers.ofString(body));
        JsonNode headed = JSON.readTree(rig.send(asked.build()).body());
        HttpRequest.Builder real =
            rig.post("/v1/completions", body.getBytes(UTF_8)).header("x-session-id", session);
        String served =
            rig.send(real.build()).headers().firstValue("x-warmpath-replica").orElseThrow();
        assertThat(named.path("winner").asText()).isEqualTo(served);
        assertThat(headed.path("winner").asText()).isEqualTo(served);
        assertThat(named.path("reason").asText()).isEqualTo("session");
        rig.untilIdle();
      }
    }
  }

  @Test
  void aPageOfAnotherSiteMaySetNothingGoing() throws Exception {
    try (Rig rig = new Rig(1)) {
      String own = "http://127.0.0.1:" + rig.router.adminPort();
      assertThat(clearedBy(rig, "")).contains(" 200 ");
      assertThat(clearedBy(rig, "origin: " + own + "\r\n")).contains(" 200 ");
      assertThat(clearedBy(rig, "sec-fetch-site: same-origin\r\n")).contains(" 200 ");
      assertThat(clearedBy(rig, "origin: http://evil.example\r\n")).contains(" 403 ");
      assertThat(clearedBy(rig, "origin: null\r\n")).contains(" 403 ");
      assertThat(clearedBy(rig, "sec-fetch-site: cross-site\r\norigin: " + own + "\r\n"))
          .contains(" 403 ");
    }
  }

  private static String clearedBy(Rig rig, String header) throws Exception {
    try (RawClient client = new RawClient(rig.router.adminPort())) {
      client.write(
          "POST /admin/replicas/r0/clear HTTP/1.1\r\nhost: 127.0.0.1:"
              + rig.router.adminPort()
              + "\r\n"
              + header
              + "content-length: 0\r\n\r\n");
      return client.readUntil("\r\n");
    }
  }

  /** However its path is written. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "/admin/console/live",
        "/admin/console/%6Cive",
        "/admin//console/live",
        "/admin/console/./live"
      })
  void aPageOfAnotherSiteTakesNoPlaceOfAListener(String path) throws Exception {
    try (Rig rig = new Rig(1);
        RawClient client = new RawClient(rig.router.adminPort())) {
      client.write(
          "GET "
              + path
              + " HTTP/1.1\r\n"
              + "host: 127.0.0.1\r\n"
              + "sec-fetch-site: cross-site\r\n\r\n");
      assertThat(client.readUntil("\r\n")).contains(" 403 ");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/admin/fleet/",
        "/admin/console/live/",
        "/admin/nothing",
        "/admin/decisions/x/explain",
        "/admin/replicas/r0/burn"
      })
  void whatIsNoPathIsNotAnswered(String path) throws Exception {
    try (Rig rig = new Rig(1)) {
      HttpResponse<byte[]> answer = get(rig, path);
      assertThat(answer.statusCode()).isEqualTo(404);
      assertThat(new String(answer.body(), UTF_8)).contains("no such path");
    }
  }

  @Test
  void pathsAreEncodedAsUrlsAre() throws Exception {
    try (Rig rig = new Rig(1);
        RawClient client = new RawClient(rig.router.adminPort())) {
      client.write(
          "POST /admin/tokenizers/%zz/release HTTP/1.1\r\nhost: 127.0.0.1\r\n"
              + "content-length: 0\r\n\r\n");
      assertThat(client.readUntil("\r\n")).contains(" 400 ");
    }
  }

  @Test
  void cachesAreClearedByName() throws Exception {
    try (Rig rig = new Rig(1)) {
      HttpResponse<byte[]> known = post(rig, "/admin/replicas/r0/clear");
      assertThat(known.statusCode()).isEqualTo(200);
      assertThat(new String(known.body(), UTF_8))
          .isEqualTo("{\"replica\":\"r0\",\"enginesCleared\":0}");
      HttpResponse<byte[]> unknown = post(rig, "/admin/replicas/nobody/clear");
      assertThat(unknown.statusCode()).isEqualTo(404);
      assertThat(new String(unknown.body(), UTF_8)).contains("nobody");
      assertThat(get(rig, "/admin/replicas/r0/clear").statusCode()).isEqualTo(404);
    }
  }

  @Test
  void explainSaysWhyAPromptIsNotKnown() throws Exception {
    try (Rig rig = new Rig(1)) {
      JsonNode answer = JSON.readTree(explain(rig, "{\"model\":\"m\",\"prompt\":\"p\"}").body());
      assertThat(answer.path("prompt").path("exact").asBoolean()).isFalse();
      assertThat(answer.path("prompt").path("reason").asText()).isEqualTo("no_tokenizer");
      JsonNode nobody = JSON.readTree(explain(rig, "{\"model\":\"other\"}").body());
      assertThat(nobody.path("winner").isNull()).isTrue();
      assertThat(nobody.path("passedOver").path("r0").asText()).isEqualTo("unknown_model");
    }
  }

  @Test
  void explainReadsABodyAsWhatItIs() throws Exception {
    String text = "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]";
    try (Rig rig = new Rig(1, AdminTest::withTokenizer)) {
      assertThat(kind(rig, "", text + "}")).isEqualTo("chat");
      assertThat(kind(rig, "?path=/v1/messages", text + "}")).isEqualTo("messages");
      assertThat(kind(rig, "?path=%2Fv1%2Fmessages", text + "}")).isEqualTo("messages");
      assertThat(kind(rig, "", text + ",\"system\":\"be kind\"}")).isEqualTo("messages");
      assertThat(kind(rig, "", text + ",\"tools\":[{\"name\":\"t\",\"input_schema\":{}}]}"))
          .isEqualTo("messages");
      assertThat(kind(rig, "", text.replace("\"hi\"", "[{\"type\":\"tool_result\"}]") + "}"))
          .isEqualTo("messages");
      assertThat(kind(rig, "", text.replace("\"hi\"", "[{\"type\":\"image_url\"}]") + "}"))
          .isEqualTo("chat");
      assertThat(kind(rig, "", "{\"input\":\"hi\"}")).isEqualTo("responses");
      assertThat(explain(rig, "?path=/v1/messages/count_tokens", "{}").statusCode()).isEqualTo(400);
      assertThat(explain(rig, "?path=/v1/nothing", "{}").statusCode()).isEqualTo(400);
    }
  }

  private static String kind(Rig rig, String query, String body) throws Exception {
    return JSON.readTree(explain(rig, query, body).body()).path("kind").asText();
  }

  @Test
  void nonsenseIsRefused() throws Exception {
    try (Rig rig = new Rig(1)) {
      assertThat(explain(rig, "[1]").statusCode()).isEqualTo(400);
      assertThat(explain(rig, "").statusCode()).isEqualTo(400);
      assertThat(get(rig, "/admin/other").statusCode()).isEqualTo(404);
      assertThat(get(rig, "/v1/models").statusCode()).isEqualTo(404);
      assertThat(new String(get(rig, "/metrics").body(), UTF_8)).contains("warmpath_replica_up");
    }
  }

  private static ConfigTree withTokenizer(ConfigTree tree) {
    return tree.set("policy.name", "warm", "test")
        .put("models", Map.of("name", "m", "tokenizer", "embedded"), "test");
  }

  private static HttpResponse<byte[]> explain(Rig rig, String body) throws Exception {
    return explain(rig, "", body);
  }

  private static HttpResponse<byte[]> explain(Rig rig, String query, String body) throws Exception {
    return rig.send(
        HttpRequest.newBuilder(uri(rig, "/admin/explain" + query))
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build());
  }

  private static HttpResponse<byte[]> post(Rig rig, String path) throws Exception {
    return rig.send(
        HttpRequest.newBuilder(uri(rig, path)).POST(HttpRequest.BodyPublishers.noBody()).build());
  }

  private static HttpResponse<byte[]> get(Rig rig, String path) throws Exception {
    return rig.send(HttpRequest.newBuilder(uri(rig, path)).build());
  }

  private static URI uri(Rig rig, String path) {
    return URI.create("http://127.0.0.1:" + rig.router.adminPort() + path);
  }
}
