package dev.warmpath.router.proxy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.rig.RawClient;
import dev.warmpath.router.rig.Rig;
import io.vertx.core.buffer.Buffer;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

class AnthropicPathsTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String COUNT = "/v1/messages/count_tokens";
  private static final String BODY =
      "{\"model\":\"m\",\"max_tokens\":9,\"messages\":[{\"role\":\"user\",\"content\":\""
          + "many words ".repeat(50)
          + "\"}]}";

  @Test
  void countingIsPassedOnAndPromisesNothing() throws Exception {
    try (Rig rig = new Rig(1, AnthropicPathsTest::withTokenizer)) {
      List<String> paths = new CopyOnWriteArrayList<>();
      rig.backends.get(0).script =
          (request, body) -> {
            paths.add(request.uri());
            request.response().end("{\"input_tokens\":3}");
          };
      HttpResponse<byte[]> counted = post(rig, COUNT + "?beta=true", BODY);
      assertThat(counted.statusCode()).isEqualTo(200);
      assertThat(new String(counted.body(), UTF_8)).isEqualTo("{\"input_tokens\":3}");
      assertThat(counted.headers().firstValue("x-warmpath-replica")).contains("r0");
      assertThat(counted.headers().firstValue("x-warmpath-cached-tokens")).isEmpty();
      assertThat(paths).containsExactly(COUNT + "?beta=true");
      assertThat(rig.backends.get(0).bodies).containsExactly(Buffer.buffer(BODY));
      rig.untilIdle();
      assertThat(expectedBlocks(rig)).isZero();
      assertThat(post(rig, "/v1/messages", BODY).statusCode()).isEqualTo(200);
      assertThat(expectedBlocks(rig)).isPositive();
      String scrape = new String(rig.admin("/metrics").body(), UTF_8);
      assertThat(scrape)
          .doesNotContain("warmpath_fallbacks_total{")
          .contains("warmpath_requests_total{ending=\"complete\",path=\"" + COUNT + "\"");
    }
  }

  @Test
  void countingGoesToAReplicaOfTheModel() throws Exception {
    try (Rig rig = new Rig(1)) {
      JsonNode error = error(post(rig, COUNT, "{\"model\":\"other\",\"messages\":[]}"), 404);
      assertThat(error.path("type").asText()).isEqualTo("not_found_error");
      assertThat(error.path("message").asText()).contains("`other`");
      assertThat(post(rig, COUNT, "no JSON").statusCode()).isEqualTo(200);
    }
  }

  @Test
  void errorsHaveAnthropicsForm() throws Exception {
    try (Rig rig = new Rig(1, tree -> tree.set("limits.body-bytes", 1_000, "test"))) {
      JsonNode large = error(post(rig, "/v1/messages", "x".repeat(1_001)), 413);
      assertThat(large.path("type").asText()).isEqualTo("request_too_large");
      JsonNode wrong = error(rig.get("/v1/messages"), 405);
      assertThat(wrong.path("type").asText()).isEqualTo("invalid_request_error");
      rig.backends.get(0).script = (request, body) -> request.connection().close();
      JsonNode gone = error(post(rig, "/v1/messages", "{\"model\":\"m\"}"), 502);
      assertThat(gone.path("type").asText()).isEqualTo("api_error");
    }
    try (Rig rig = new Rig(0)) {
      HttpResponse<byte[]> nobody = post(rig, "/v1/messages", "{}");
      assertThat(error(nobody, 503).path("type").asText()).isEqualTo("overloaded_error");
      assertThat(nobody.headers().firstValue("retry-after")).isPresent();
    }
  }

  @Test
  void aStreamThatBreaksEndsWithAnthropicsEvent() throws Exception {
    try (Rig rig = new Rig(1)) {
      rig.backends.get(0).script =
          (request, body) -> {
            request.response().setChunked(true).putHeader("content-type", "text/event-stream");
            request
                .response()
                .write("event: ping\ndata: {}\n\n")
                .onComplete(v -> request.connection().close());
          };
      try (RawClient client = new RawClient(rig.router.port())) {
        String seen = client.post("/v1/messages", BODY).readToEnd();
        assertThat(seen)
            .contains("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\"");
      }
    }
  }

  private static JsonNode error(HttpResponse<byte[]> response, int status) throws Exception {
    assertThat(response.statusCode()).isEqualTo(status);
    JsonNode root = JSON.readTree(response.body());
    assertThat(root.path("type").asText()).isEqualTo("error");
    assertThat(root).hasSize(2);
    assertThat(root.path("error")).hasSize(2);
    return root.path("error");
  }

  private static HttpResponse<byte[]> post(Rig rig, String path, String body) throws Exception {
    return rig.send(rig.post(path, body.getBytes(UTF_8)).build());
  }

  private static int expectedBlocks(Rig rig) {
    return rig.router.dispatcher().report().stream()
        .mapToInt(report -> report.state().expectedBlocks().expected())
        .sum();
  }

  private static ConfigTree withTokenizer(ConfigTree tree) {
    return tree.set("policy.name", "warm", "test")
        .set("index.expected-settle-ms", 30_000, "test")
        .put("models", Map.of("name", "m", "tokenizer", "embedded"), "test");
  }
}
