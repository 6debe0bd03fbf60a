package dev.warmpath.simulator.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.kvindex.enginehash.HashAlgorithm;
import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.KvCacheConfig;
import dev.warmpath.simulator.engine.StepCost;
import dev.warmpath.tokenizer.ModelTokenizer;
import dev.warmpath.tokenizer.PromptResult.Tokens;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An engine whose driving thread ends by an exception, as seen over HTTP. */
@Timeout(value = 120, threadMode = ThreadMode.SEPARATE_THREAD)
class DeadEngineTest {

  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final String ENDLESS =
      "{\"model\":\"sim\",\"prompt\":\"a\",\"max_tokens\":1500,\"ignore_eos\":true,\"stream\":%s}";

  private final Vertx vertx = Vertx.vertx();
  private final ModelTokenizer tokenizer = ModelTokenizer.embedded();
  private volatile boolean failing;
  private final EngineDriver driver = new EngineDriver("test", engine(), this::publish, 1);
  private final HttpServer server =
      vertx
          .createHttpServer()
          .requestHandler(api().router())
          .listen(0, "127.0.0.1")
          .toCompletionStage()
          .toCompletableFuture()
          .join();

  @AfterEach
  void close() {
    driver.close();
    vertx.close().toCompletionStage().toCompletableFuture().join();
    tokenizer.close();
  }

  @Test
  void requestsUnderWayAndLaterOnesFail() throws Exception {
    failing = true;
    for (int i = 0; i < 2; i++) {
      HttpResponse<String> answer = post("/v1/completions", ENDLESS.formatted(false));
      assertThat(answer.statusCode()).isEqualTo(500);
      assertThat(new ObjectMapper().readTree(answer.body()).at("/error/type").asText())
          .isEqualTo("InternalServerError");
    }
    assertThat(post("/reset_prefix_cache", "").statusCode()).isEqualTo(500);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/v1/completions", "/v1/messages"})
  void streamUnderWayBreaksOff(String path) throws Exception {
    String body =
        ENDLESS
            .formatted(true)
            .replace("{", "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],");
    HttpResponse<InputStream> stream = HTTP.send(request(path, body), BodyHandlers.ofInputStream());
    assertThat(stream.body().read()).isPositive();

    failing = true;

    assertThatThrownBy(() -> stream.body().readAllBytes()).isInstanceOf(IOException.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/health", "/ping"})
  void isNotHealthyAnyMore(String path) throws Exception {
    assertThat(get(path).statusCode()).isEqualTo(200);
    failing = true;
    post("/v1/completions", ENDLESS.formatted(false));
    assertThat(get(path).statusCode()).isEqualTo(503);
  }

  private void publish(List<CacheEvent> events) {
    if (failing) {
      throw new IllegalStateException("cannot publish");
    }
  }

  private static TokenEngine engine() {
    EngineConfig config =
        new EngineConfig(
            KvCacheConfig.fullAttention(16, 400), 512, 16, 2048, new StepCost(5, 0, 0, 0));
    return new TokenEngine(config, TestHashing.of(HashAlgorithm.SHA256, 16, Map.of()));
  }

  private EngineApi api() {
    EngineMetrics metrics = new EngineMetrics("sim", Map.of(), 0);
    SimulatedModel model = new SimulatedModel("sim", Map.of(), 2048, 0, false);
    return new EngineApi(
        vertx,
        tokenizer,
        model,
        new EngineApi.Parts(
            driver,
            metrics,
            "{}",
            32,
            Tokens::sequences,
            Tokens::keys,
            new KvTransfers(vertx, KvTransferOptions.NONE, 1, driver, metrics)));
  }

  private HttpResponse<String> post(String path, String body) throws Exception {
    return HTTP.send(request(path, body), BodyHandlers.ofString());
  }

  private HttpResponse<String> get(String path) throws Exception {
    return HTTP.send(HttpRequest.newBuilder(uri(path)).build(), BodyHandlers.ofString());
  }

  private HttpRequest request(String path, String body) {
    return HttpRequest.newBuilder(uri(path)).POST(BodyPublishers.ofString(body)).build();
  }

  private URI uri(String path) {
    return URI.create("http://127.0.0.1:" + server.actualPort() + path);
  }
}
