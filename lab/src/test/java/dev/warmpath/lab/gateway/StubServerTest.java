package dev.warmpath.lab.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class StubServerTest {

  private final HttpClient http = HttpClient.newHttpClient();
  private final StubServer server;

  StubServerTest() throws IOException {
    server = new StubServer("some-model", List.of(0, 0));
  }

  @AfterEach
  void close() {
    server.close();
  }

  @Test
  void passesForAnEngine() throws Exception {
    assertThat(get("/health").statusCode()).isEqualTo(200);
    assertThat(json(get("/v1/models")).path("data").path(0).path("id").asText())
        .isEqualTo("some-model");
    assertThat(json(get("/version")).path("version").asText()).isNotEmpty();
    assertThat(json(get("/model_info")).path("model_path").asText()).isEqualTo("some-model");
    assertThat(get("/metrics").body())
        .contains("\nprocess_start_time_seconds ", "\nvllm:cache_config_info{")
        .hasSizeGreaterThan(15_000);
    assertThat(get("/tokenize").statusCode()).isEqualTo(404);
  }

  @Test
  void wholeAnswerIsHalfAKilobyte() throws Exception {
    HttpResponse<String> answer = chat("{}");
    assertThat(answer.body().length()).isBetween(450, 600);
    assertThat(json(answer).path("choices").path(0).path("message").path("content").asText())
        .isNotEmpty();
  }

  @Test
  void streamsHave64ChunksAndAnEnd() throws Exception {
    for (AnswerShape shape : List.of(AnswerShape.PACED, AnswerShape.BURST)) {
      server.answer(shape);
      HttpResponse<String> answer = chat("x".repeat(500_000));
      assertThat(answer.headers().firstValue("content-type").orElse(""))
          .startsWith("text/event-stream");
      List<String> events = answer.body().lines().filter(line -> !line.isEmpty()).toList();
      assertThat(events).hasSize(1 + 64 + 2).allMatch(line -> line.startsWith("data: "));
      assertThat(events.get(66)).isEqualTo("data: [DONE]");
      JsonNode chunk = new ObjectMapper().readTree(events.get(1).substring("data: ".length()));
      assertThat(chunk.path("choices").path(0).path("delta").path("content").asText()).isNotEmpty();
    }
  }

  @Test
  void namesThePortThatIsTaken() {
    int taken = server.ports().get(1);
    assertThatThrownBy(() -> new StubServer("m", List.of(0, taken)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("port " + taken);
  }

  private HttpResponse<String> get(String path) throws IOException, InterruptedException {
    return http.send(request(path).build(), BodyHandlers.ofString(UTF_8));
  }

  private HttpResponse<String> chat(String body) throws IOException, InterruptedException {
    HttpRequest.Builder request = request("/v1/chat/completions");
    return http.send(
        request.POST(BodyPublishers.ofString(body)).build(), BodyHandlers.ofString(UTF_8));
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.ports().get(1) + path))
        .version(HttpClient.Version.HTTP_1_1);
  }

  private static JsonNode json(HttpResponse<String> answer) throws IOException {
    assertThat(answer.statusCode()).isEqualTo(200);
    return new ObjectMapper().readTree(answer.body());
  }
}
