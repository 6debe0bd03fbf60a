package dev.warmpath.router.proxy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.rig.Backend;
import dev.warmpath.router.rig.RawClient;
import dev.warmpath.router.rig.Rig;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServer;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A request of which one engine computes the prompt and another one gives the answer. */
class SplitRequestTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String PARAMS =
      "{\"do_remote_prefill\":true,\"remote_block_ids\":[[1,2]],\"remote_host\":\"10.0.0.1\"}";
  private static final String PREFILLED =
      "{\"id\":\"x\",\"choices\":[{\"text\":\"y\"}],\"usage\":{\"prompt_tokens\":9},"
          + "\"kv_transfer_params\":"
          + PARAMS
          + "}";
  private static final String BODY = "{\"model\":\"m\",\"prompt\":\"p\",\"max_tokens\":50}";
  private static final String STREAMED =
      "{\"model\":\"m\",\"prompt\":\"p\",\"max_tokens\":50,\"stream\":true}";

  /** r0 computes prompts, the others answer. */
  private static Rig rig(int replicas, String connector) {
    return rig(replicas, connector, tree -> tree);
  }

  private static Rig rig(int replicas, String connector, UnaryOperator<ConfigTree> change) {
    Rig[] made = new Rig[1];
    made[0] =
        new Rig(
            replicas,
            tree -> {
              ConfigTree roles = tree.set("policy.split", "always", "test");
              List<String> urls = new ArrayList<>();
              for (int i = 0; i < replicas; i++) {
                urls.add(url(tree, i));
              }
              for (int i = 0; i < replicas; i++) {
                Map<String, Object> replica =
                    Map.of(
                        "name",
                        "r" + i,
                        "url",
                        urls.get(i),
                        "models",
                        List.of("m"),
                        "role",
                        i == 0 ? "prefill" : "decode",
                        "kv-connector",
                        connector);
                roles = roles.put("replicas", replica, "test");
              }
              return change.apply(roles);
            });
    Rig rig = made[0];
    rig.backends.get(0).script = (request, body) -> request.response().end(PREFILLED);
    return rig;
  }

  private static String url(ConfigTree tree, int replica) {
    try {
      return tree.config().replicas().get(replica).url().toString();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private static JsonNode sent(Backend to, int index) throws IOException {
    return JSON.readTree(to.bodies.get(index).getBytes());
  }

  private static String body(HttpResponse<byte[]> response) {
    return new String(response.body(), UTF_8);
  }

  private static Buffer event(String data) {
    return Buffer.buffer("data: " + data + "\n\n");
  }

  /** Does something on an event loop as soon as something is so. */
  private static void when(Rig rig, BooleanSupplier holds, Runnable then) {
    rig.vertx()
        .setTimer(
            1,
            id -> {
              if (holds.getAsBoolean()) {
                then.run();
              } else {
                when(rig, holds, then);
              }
            });
  }

  @Test
  void thePrefillsParametersGoToTheDecodeAndNotToTheClient() throws Exception {
    try (Rig rig = rig(2, "nixl")) {
      rig.backends.get(1).script =
          (request, body) ->
              request
                  .response()
                  .putHeader("content-type", "application/json")
                  .end("{\"choices\":[],\"kv_transfer_params\":{\"remote_host\":\"10.0.0.2\"}}");
      HttpResponse<byte[]> response = rig.chat(BODY);
      assertThat(response.statusCode()).isEqualTo(200);
      assertThat(body(response)).doesNotContain("10.0.0");
      assertThat(response.headers().firstValue("x-warmpath-replica")).contains("r1");
      assertThat(sent(rig.backends.get(0), 0).path("max_tokens").asInt()).isEqualTo(1);
      assertThat(sent(rig.backends.get(0), 0).path("stream").asBoolean(true)).isFalse();
      JsonNode decode = sent(rig.backends.get(1), 0);
      assertThat(decode.path("kv_transfer_params")).isEqualTo(JSON.readTree(PARAMS));
      assertThat(decode.path("max_tokens").asInt()).isEqualTo(50);
      rig.untilIdle();
      assertThat(rig.metrics())
          .containsEntry("warmpath_split_requests_total{result=\"handed_over\"}", 1.0)
          .containsEntry(
              "warmpath_split_pairs_total{engine=\"r0\",leg=\"prefill\",result=\"handed_over\"}",
              1.0)
          .containsEntry(
              "warmpath_split_pairs_total{engine=\"r1\",leg=\"decode\",result=\"handed_over\"}",
              1.0)
          .containsEntry("warmpath_split_tokens_total{kind=\"computed\"}", 9.0)
          .containsEntry("warmpath_split_leg_seconds_count{leg=\"prefill\"}", 1.0);
    }
  }

  @Test
  void aStreamComesFromTheDecode() throws Exception {
    try (Rig rig = rig(2, "nixl")) {
      Backend decode = rig.backends.get(1);
      decode.script =
          (request, body) -> decode.stream(request, List.of(event("{\"a\":1}"), event("[DONE]")));
      HttpResponse<byte[]> response = rig.chat(STREAMED);
      assertThat(body(response)).isEqualTo("data: {\"a\":1}\n\ndata: [DONE]\n\n");
      assertThat(sent(decode, 0).path("stream").asBoolean()).isTrue();
      rig.untilIdle();
    }
  }

  @Test
  void whatAClientSaysOfTransfersReachesNobody() throws Exception {
    try (Rig rig = rig(2, "nixl")) {
      String evil = BODY.replace("}", ",\"kv_transfer_params\":{\"remote_host\":\"evil\"}}");
      rig.chat(evil);
      assertThat(rig.backends.get(0).bodies.get(0).toString()).doesNotContain("evil");
      assertThat(rig.backends.get(1).bodies.get(0).toString()).doesNotContain("evil");
      rig.chat(evil.replace("\"max_tokens\"", "\"n\":2,\"max_tokens\""));
      assertThat(rig.backends.get(1).bodies.get(1).toString())
          .doesNotContain("evil")
          .contains("\"n\":2");
      rig.untilIdle();
    }
  }

  @Test
  void aBodyWhoseFieldsCannotBeFoundIsRefused() throws Exception {
    try (Rig rig = rig(2, "nixl")) {
      byte[] wide = BODY.getBytes(java.nio.charset.StandardCharsets.UTF_16LE);
      assertThat(rig.send(rig.post("/v1/completions", wide).build()).statusCode()).isEqualTo(400);
      String odd = BODY.replace("50", "NaN,\"kv_transfer_params\":{\"remote_host\":\"evil\"}");
      rig.chat(odd);
      for (Backend backend : rig.backends) {
        assertThat(backend.bodies).allMatch(body -> !body.toString().contains("evil"));
      }
      rig.untilIdle();
    }
  }

  @Test
  void whatIsAskedOfThePromptItselfIsNotSplit() throws Exception {
    try (Rig rig = rig(2, "nixl")) {
      rig.chat(BODY.replace("}", ",\"prompt_logprobs\":1}"));
      rig.chat(BODY.replace("}", ",\"echo\":true}"));
      assertThat(rig.backends.get(0).bodies).isEmpty();
      assertThat(rig.backends.get(1).bodies).hasSize(2);
    }
  }

  /** The beginning of such a stream comes before its prompt is computed. */
  @Test
  void aResponsesStreamFailsToLoadBehindItsFirstEvents() throws Exception {
    try (Rig rig = rig(3, "nixl")) {
      Buffer opening =
          Buffer.buffer("event: response.created\ndata: {\"type\":\"response.created\"}\n\n");
      Buffer failed =
          Buffer.buffer("event: response.failed\ndata: {\"type\":\"response.failed\"}\n\n");
      Buffer done = Buffer.buffer("event: response.completed\ndata: {}\n\n");
      for (Backend decode : rig.backends.subList(1, 3)) {
        decode.script =
            (request, body) -> {
              boolean loads = body.toString().contains("kv_transfer_params");
              decode.stream(request, loads ? List.of(opening, failed) : List.of(opening, done));
            };
      }
      String body = "{\"model\":\"m\",\"input\":\"p\",\"stream\":true}";
      HttpResponse<byte[]> response =
          rig.send(rig.post("/v1/responses", body.getBytes(UTF_8)).build());
      assertThat(body(response)).contains("response.completed").doesNotContain("failed");
      rig.untilIdle();
    }
  }

  /** As when the prompt is too long: the same again would be refused again. */
  @Test
  void whatBothRefuseIsRefusedAtOnce() throws Exception {
    try (Rig rig = rig(2, "sglang")) {
      rig.backends.get(0).script =
          (request, body) ->
              request.response().setStatusCode(400).end("{\"error\":{\"message\":\"too long\"}}");
      rig.backends.get(1).script = (request, body) -> {};
      HttpResponse<byte[]> response = rig.chat(BODY);
      assertThat(response.statusCode()).isEqualTo(400);
      assertThat(body(response)).contains("too long");
      assertThat(rig.backends.get(0).bodies).hasSize(1);
      rig.untilIdle();
    }
  }

  @Test
  void whatLeavesTheQueueAtOnceIsSplitToo() throws Exception {
    try (Rig rig = rig(2, "nixl", tree -> tree.set("limits.replica-requests", 1, "test"))) {
      rig.backends.get(1).script =
          (request, body) ->
              rig.vertx().setTimer(2, id -> request.response().end("{\"choices\":[]}"));
      List<CompletableFuture<HttpResponse<byte[]>>> all = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        all.add(rig.chatLater(BODY));
      }
      for (CompletableFuture<HttpResponse<byte[]>> one : all) {
        assertThat(one.join().statusCode()).isEqualTo(200);
      }
      rig.untilIdle();
      assertThat(rig.router.fleet().replicas()).allMatch(replica -> replica.requests() == 0);
    }
  }

  /** A decode server of SGLang computes no prompt: there is nobody for such a request. */
  @Test
  void severalAnswersOfPairsAloneAreRefusedClearly() throws Exception {
    try (Rig rig = rig(2, "sglang")) {
      HttpResponse<byte[]> response = rig.chat(BODY.replace("50", "50,\"n\":2"));
      assertThat(response.statusCode()).isEqualTo(400);
      assertThat(body(response)).contains("not_splittable", "role: both");
      assertThat(rig.backends.get(1).bodies).isEmpty();
      rig.untilIdle();
    }
  }

  @Test
  void severalAnswersAreNotSplit() throws Exception {
    try (Rig rig = rig(2, "nixl")) {
      String several = BODY.replace("\"p\"", "[\"p\",\"q\"]");
      assertThat(rig.chat(several).statusCode()).isEqualTo(200);
      assertThat(rig.backends.get(0).bodies).isEmpty();
      assertThat(rig.backends.get(1).bodies.get(0).toString()).isEqualTo(several);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"{}", "{\"kv_transfer_params\":null}", "no json"})
  void withoutAHandoffTheDecodeComputes(String answer) throws Exception {
    try (Rig rig = rig(2, "nixl")) {
      rig.backends.get(0).script = (request, body) -> request.response().end(answer);
      assertThat(rig.chat(BODY).statusCode()).isEqualTo(200);
      assertThat(rig.backends.get(1).bodies.get(0).toString()).isEqualTo(BODY);
      rig.untilIdle();
      assertThat(rig.metrics())
          .containsEntry("warmpath_split_requests_total{result=\"no_handoff\"}", 1.0);
    }
  }

  @Test
  void whatThePrefillRefusesTheDecodeAnswers() throws Exception {
    try (Rig rig = rig(2, "nixl")) {
      rig.backends.get(0).script =
          (request, body) -> request.response().setStatusCode(400).end("mine");
      rig.backends.get(1).script =
          (request, body) -> request.response().setStatusCode(422).end("yours");
      HttpResponse<byte[]> response = rig.chat(BODY);
      assertThat(response.statusCode()).isEqualTo(422);
      assertThat(body(response)).isEqualTo("yours");
      rig.untilIdle();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {500, 503, 429})
  void aPrefillThatFailsIsNotTheRequestsEnd(int status) throws Exception {
    try (Rig rig = rig(2, "nixl")) {
      rig.backends.get(0).script =
          (request, body) -> request.response().setStatusCode(status).end("no");
      HttpResponse<byte[]> response = rig.chat(BODY);
      assertThat(response.statusCode()).isEqualTo(200);
      assertThat(rig.backends.get(1).bodies).hasSize(1);
      assertThat(rig.backends.get(1).bodies.get(0).toString()).isEqualTo(BODY);
      rig.untilIdle();
    }
  }

  @Test
  void aPrefillThatDiesIsNotTheRequestsEnd() throws Exception {
    try (Rig rig = rig(2, "nixl")) {
      rig.backends.get(0).script = (request, body) -> request.connection().close();
      assertThat(rig.chat(BODY).statusCode()).isEqualTo(200);
      assertThat(rig.backends.get(1).bodies.get(0).toString()).isEqualTo(BODY);
      rig.untilIdle();
    }
  }

  /** Its head says 200: only the first event tells. */
  @ParameterizedTest
  @CsvSource({"true", "false"})
  void aFailedLoadIsDoneAgainWithoutThatHandoff(boolean streamed) throws Exception {
    try (Rig rig = rig(3, "nixl")) {
      List<String> answered = new ArrayList<>();
      for (Backend decode : rig.backends.subList(1, 3)) {
        decode.script =
            (request, body) -> {
              synchronized (answered) {
                answered.add("try");
                if (answered.size() > 1) {
                  decode.stream(request, List.of(event("{\"ok\":1}"), event("[DONE]")));
                } else if (streamed) {
                  decode.stream(
                      request,
                      List.of(
                          Buffer.buffer("data: {\"err"),
                          Buffer.buffer("or\":{\"code\":500}}\n\n"),
                          event("[DONE]")));
                } else {
                  request.response().setStatusCode(500).end("{\"error\":{}}");
                }
              }
            };
      }
      HttpResponse<byte[]> response = rig.chat(STREAMED);
      assertThat(response.statusCode()).isEqualTo(200);
      assertThat(body(response)).isEqualTo("data: {\"ok\":1}\n\ndata: [DONE]\n\n");
      List<Buffer> decoded = new ArrayList<>(rig.backends.get(1).bodies);
      decoded.addAll(rig.backends.get(2).bodies);
      assertThat(decoded).hasSize(2);
      assertThat(decoded.stream().filter(body -> body.toString().contains("remote_block_ids")))
          .as("a handoff is used once")
          .hasSize(1);
      rig.untilIdle();
      assertThat(rig.metrics())
          .containsEntry("warmpath_split_requests_total{result=\"not_loaded\"}", 1.0)
          .containsEntry(
              "warmpath_split_pairs_total{engine=\"r0\",leg=\"prefill\",result=\"not_loaded\"}",
              1.0);
    }
  }

  @Test
  void aFailedLoadWithoutAnotherTryIsAClearError() throws Exception {
    try (Rig rig = rig(2, "nixl", tree -> tree.set("retry.attempts", 1, "test"))) {
      Backend decode = rig.backends.get(1);
      decode.script =
          (request, body) -> decode.stream(request, List.of(event("{\"error\":{\"code\":500}}")));
      assertThat(body(rig.chat(STREAMED))).contains("{\"error\":{\"code\":500}}");
      rig.untilIdle();
    }
  }

  @Test
  void aClientThatLeavesEndsThePrefill() throws Exception {
    try (Rig rig = rig(2, "nixl")) {
      rig.backends.get(0).script = (request, body) -> {};
      try (RawClient client = new RawClient(rig.router.port())) {
        client.post("/v1/completions", BODY);
        Rig.until(() -> rig.backends.get(0).bodies.size() == 1);
      }
      Rig.until(() -> rig.backends.get(0).resets.get() == 1);
      rig.untilIdle();
      assertThat(rig.backends.get(1).bodies).isEmpty();
    }
  }

  @Test
  void togetherMeansAtOnceAndTheDecodeAnswers() throws Exception {
    try (Rig rig = rig(2, "sglang")) {
      Backend prefill = rig.backends.get(0);
      Backend decode = rig.backends.get(1);
      List<Runnable> later = new CopyOnWriteArrayList<>();
      prefill.script = (request, body) -> later.add(() -> request.response().end(PREFILLED));
      decode.script =
          (request, body) ->
              when(
                  rig,
                  () -> !later.isEmpty(),
                  () -> {
                    later.get(0).run();
                    decode.stream(request, List.of(event("{\"a\":1}"), event("[DONE]")));
                  });
      assertThat(body(rig.chat(STREAMED))).isEqualTo("data: {\"a\":1}\n\ndata: [DONE]\n\n");
      assertThat(sent(prefill, 0).path("bootstrap_room"))
          .isEqualTo(sent(decode, 0).path("bootstrap_room"));
      rig.untilIdle();
    }
  }

  /** A short answer is whole before the prefill's own. */
  @Test
  void aPrefillThatIsOvertakenHasHandedOver() throws Exception {
    try (Rig rig = rig(2, "sglang")) {
      Backend prefill = rig.backends.get(0);
      List<Runnable> later = new CopyOnWriteArrayList<>();
      prefill.script = (request, body) -> later.add(() -> request.response().end(PREFILLED));
      rig.backends.get(1).script =
          (request, body) ->
              when(
                  rig,
                  () -> !later.isEmpty(),
                  () -> request.response().end("{\"choices\":[{\"text\":\"y\"}]}"));
      assertThat(rig.chat(BODY.replace("50", "1")).statusCode()).isEqualTo(200);
      rig.untilIdle();
      later.get(0).run();
      assertThat(rig.metrics())
          .containsEntry("warmpath_split_requests_total{result=\"handed_over\"}", 1.0)
          .containsEntry(
              "warmpath_split_pairs_total{engine=\"r0\",leg=\"prefill\",result=\"handed_over\"}",
              1.0)
          .containsEntry(
              "warmpath_split_pairs_total{engine=\"r1\",leg=\"decode\",result=\"handed_over\"}",
              1.0)
          .containsEntry("warmpath_outcomes_total{engine=\"r0\",outcome=\"completed\"}", 1.0);
    }
  }

  @Test
  void mooncakesPrefillIsCalledByTheNameThatItHasNow() throws Exception {
    AtomicInteger asked = new AtomicInteger();
    HttpServer[] bootstrap = new HttpServer[1];
    try (Rig rig =
        rig(
            2,
            "mooncake",
            tree -> {
              bootstrap[0] = bootstrap(asked);
              Map<String, Object> prefill =
                  Map.of(
                      "name", "r0",
                      "url", url(tree, 0),
                      "role", "prefill",
                      "kv-connector", "mooncake",
                      "kv-port", (long) bootstrap[0].actualPort());
              return tree.put("replicas", prefill, "test");
            })) {
      for (int i = 0; i < 2; i++) {
        assertThat(rig.chat(BODY).statusCode()).isEqualTo(200);
        assertThat(sent(rig.backends.get(1), i).path("kv_transfer_params").path("remote_engine_id"))
            .isEqualTo(JSON.getNodeFactory().textNode("engine-" + (i + 1)));
      }
      bootstrap[0].close().toCompletionStage().toCompletableFuture().join();
      assertThat(rig.chat(BODY).statusCode()).as("the decode computes").isEqualTo(200);
      assertThat(rig.backends.get(1).bodies.get(2).toString()).isEqualTo(BODY);
      rig.untilIdle();
    }
  }

  private static HttpServer bootstrap(AtomicInteger asked) {
    return Vertx.vertx()
        .createHttpServer()
        .requestHandler(request ->
            request
                .response()
                .end("{\"0\":{\"engine_id\":\"engine-" + asked.incrementAndGet() + "\"}}"))
        .listen(0, "127.0.0.1")
        .toCompletionStage()
        .toCompletableFuture()
        .join();
  }

  @Test
  void oneLegThatFailsEndsTheOtherAtOnce() throws Exception {
    try (Rig rig = rig(2, "sglang")) {
      Backend prefill = rig.backends.get(0);
      Backend decode = rig.backends.get(1);
      decode.script = (request, body) -> {};
      prefill.script =
          (request, body) ->
              when(
                  rig,
                  () -> decode.bodies.size() == prefill.bodies.size(),
                  () -> request.response().setStatusCode(503).end("no"));
      HttpResponse<byte[]> response = rig.chat(BODY);
      assertThat(response.statusCode()).isEqualTo(502);
      assertThat(body(response)).contains("prefill_status_503");
      Rig.until(() -> decode.resets.get() == decode.bodies.size());
      rig.untilIdle();
    }
  }

  @Test
  void aDecodeThatFailsEndsThePrefillAtOnce() throws Exception {
    try (Rig rig = rig(2, "sglang", tree -> tree.set("retry.attempts", 1, "test"))) {
      Backend prefill = rig.backends.get(0);
      prefill.script = (request, body) -> {};
      rig.backends.get(1).script =
          (request, body) ->
              when(
                  rig,
                  () -> prefill.bodies.size() == 1,
                  () -> request.response().setStatusCode(503).end("full"));
      HttpResponse<byte[]> response = rig.chat(BODY);
      assertThat(response.statusCode()).isEqualTo(503);
      Rig.until(() -> prefill.resets.get() == 1);
      rig.untilIdle();
    }
  }
}
