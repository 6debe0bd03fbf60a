package dev.warmpath.router.logs;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.router.StartException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.rig.Backend;
import dev.warmpath.router.rig.Rig;
import io.vertx.core.buffer.Buffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TracingTest {

  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
  private static final String SAMPLED = "00-" + TRACE + "-b7ad6b7169203331-01";
  private static final String UNSAMPLED = "00-" + TRACE + "-b7ad6b7169203331-00";
  private static final String SECRET = "unmistakable";
  private static final String BODY =
      "{\"model\":\"m\",\"prompt\":\"" + SECRET + " words\",\"stream\":true}";
  private static final List<Buffer> STREAM =
      List.of(
          Buffer.buffer("data: {\"choices\":[{\"text\":\"" + SECRET + "\"}]}\n\n"),
          Buffer.buffer(
              "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":31,\"completion_tokens\":3,"
                  + "\"prompt_tokens_details\":{\"cached_tokens\":16}}}\n\n"));

  private Collector collector;
  @TempDir Path folder;

  @BeforeEach
  void start() throws Exception {
    collector = new Collector();
  }

  @AfterEach
  void stop() {
    collector.close();
  }

  @Test
  void stepsOfARequestAreSpansOfTheClientsTrace() throws Exception {
    Rig rig = rig(1, tree -> tree);
    try (rig) {
      Backend backend = rig.backends.get(0);
      backend.script = (request, body) -> backend.stream(request, STREAM);
      send(rig, SAMPLED);
      rig.untilIdle();
    }
    Rig.until(() -> collector.spans.size() >= 4);
    assertThat(collector.spans)
        .extracting(Collector.Span::name)
        .containsExactlyInAnyOrder("POST /v1/completions", "tokenize", "decide", "upstream");
    assertThat(collector.spans).extracting(Collector.Span::trace).containsOnly(TRACE);
    Collector.Span request = span("POST /v1/completions");
    assertThat(request.parent()).isEqualTo("b7ad6b7169203331");
    assertThat(request.kind()).isEqualTo(2);
    assertThat(request.attributes())
        .containsEntry("http.route", "/v1/completions")
        .containsEntry("http.response.status_code", 200L)
        .containsEntry("gen_ai.request.model", "m")
        .containsEntry("warmpath.outcome", "completed");
    assertThat(span("tokenize").parent()).isEqualTo(request.id());
    assertThat((Long) span("tokenize").attributes().get("warmpath.prompt_tokens")).isPositive();
    assertThat(span("decide").attributes()).containsEntry("warmpath.result", "r0");
    Collector.Span upstream = span("upstream");
    assertThat(upstream.parent()).isEqualTo(request.id());
    assertThat(upstream.kind()).isEqualTo(3);
    assertThat(upstream.events()).containsExactly("first token");
    assertThat(upstream.attributes())
        .containsEntry("warmpath.engine", "r0")
        .containsEntry("warmpath.policy", "round-robin")
        .containsEntry("gen_ai.usage.input_tokens", 31L)
        .containsEntry("warmpath.cached_tokens", 16L)
        .containsEntry("gen_ai.usage.output_tokens", 3L);
    assertThat(rig.backends.get(0).headers.get(0))
        .containsEntry("traceparent", "00-" + TRACE + "-" + upstream.id() + "-01")
        .containsEntry("tracestate", "a=b");
    assertThat(collector.services).containsOnly("edge");
    assertThat(collector.raw.toString()).doesNotContain(SECRET, "Bearer");
  }

  @Test
  void eachTryIsASpan() throws Exception {
    try (Rig rig = rig(2, tree -> tree)) {
      rig.backends.get(0).script = (request, body) -> request.response().setStatusCode(503).end();
      rig.backends.get(1).script = rig.backends.get(0).script;
      send(rig, SAMPLED);
      rig.untilIdle();
    }
    Rig.until(() -> collector.spans.size() >= 5);
    List<Collector.Span> tries =
        collector.spans.stream().filter(span -> span.name().equals("upstream")).toList();
    assertThat(tries)
        .extracting(span -> span.attributes().get("warmpath.outcome"))
        .containsExactlyInAnyOrder("retried", "error");
    assertThat(tries).extracting(Collector.Span::id).doesNotHaveDuplicates();
    assertThat(span("POST /v1/completions").status()).isEqualTo(2);
  }

  @Test
  void theClientDecidesAndTheRatioOtherwise() throws Exception {
    Rig rig = rig(1, tree -> tree.set("tracing.sample-ratio", 0.0, "test"));
    try (rig) {
      send(rig, UNSAMPLED);
      send(rig, null);
      rig.untilIdle();
    }
    assertThat(collector.spans).isEmpty();
    assertThat(rig.backends.get(0).headers.get(0)).containsEntry("traceparent", UNSAMPLED);
    assertThat(rig.backends.get(0).headers.get(1)).doesNotContainKey("traceparent");
  }

  @Test
  void withoutACollectorTheHeaderIsPassedOn() throws Exception {
    try (Rig rig = new Rig(1)) {
      send(rig, SAMPLED);
      assertThat(rig.backends.get(0).headers.get(0)).containsEntry("traceparent", SAMPLED);
    }
  }

  @Test
  void theCollectorsHeadersComeFromAFile() throws Exception {
    Path headers = folder.resolve("headers");
    Files.writeString(headers, "X-Key: abc\n\nX-Other: d\n");
    try (Rig rig = rig(1, tree -> tree.set("tracing.headers-file", headers.toString(), "test"))) {
      send(rig, SAMPLED);
      rig.untilIdle();
    }
    Rig.until(() -> !collector.keys.isEmpty());
    assertThat(collector.keys).containsOnly("abc");
    Files.writeString(headers, "abc\n");
    assertThatThrownBy(
            () -> rig(1, tree -> tree.set("tracing.headers-file", headers.toString(), "test")))
        .isInstanceOf(StartException.class)
        .hasMessageContaining("headers:1");
  }

  @Test
  void aCollectorThatIsNotThereHurtsNobody() throws Exception {
    collector.close();
    try (Rig rig = rig(1, tree -> tree.set("tracing.timeout-ms", 100, "test"))) {
      send(rig, SAMPLED);
      Rig.until(() ->
          rig.metrics().getOrDefault("warmpath_trace_spans_total{result=\"failed\"}", 0.0) >= 4);
    }
  }

  @Test
  void spansForWhichTheQueueHasNoRoomAreCounted() throws Exception {
    collector.hold();
    try (Rig rig = rig(1, tree -> tree.set("tracing.queue", 512, "test"))) {
      for (int i = 0; i < 300; i++) {
        send(rig, SAMPLED);
      }
      Rig.until(() -> spans(rig, "dropped") >= 1);
      collector.release();
      Rig.until(() -> spans(rig, "exported") + spans(rig, "dropped") == 1_200);
      assertThat(spans(rig, "exported")).isGreaterThanOrEqualTo(512);
      assertThat(spans(rig, "failed")).isZero();
    }
  }

  private static double spans(Rig rig, String result) {
    return rig.metrics().get("warmpath_trace_spans_total{result=\"" + result + "\"}");
  }

  private Rig rig(int replicas, UnaryOperator<ConfigTree> change) {
    return new Rig(
        replicas,
        tree ->
            change.apply(
                tree.set("tracing.endpoint", collector.endpoint(), "test")
                    .set("tracing.timeout-ms", 60_000, "test")
                    .set("tracing.sample-ratio", 1.0, "test")
                    .set("tracing.service-name", "edge", "test")
                    .put("models", Map.of("name", "m", "tokenizer", "embedded"), "test")));
  }

  private static void send(Rig rig, String traceparent) throws Exception {
    var request = rig.post("/v1/completions", BODY.getBytes(UTF_8));
    request.header("authorization", "Bearer key");
    if (traceparent != null) {
      request.header("traceparent", traceparent).header("tracestate", "a=b");
    }
    rig.send(request.build());
  }

  private Collector.Span span(String name) {
    return collector.spans.stream()
        .filter(span -> span.name().equals(name))
        .findFirst()
        .orElseThrow();
  }
}
