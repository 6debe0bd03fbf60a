package dev.warmpath.router.picker;

import static io.envoyproxy.envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode.BUFFERED;
import static io.envoyproxy.envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode.BUFFERED_PARTIAL;
import static io.envoyproxy.envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode.FULL_DUPLEX_STREAMED;
import static io.envoyproxy.envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode.NONE;
import static io.envoyproxy.envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode.STREAMED;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.EnumDescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.DescriptorProtos.ServiceDescriptorProto;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.fleet.KvTransfer;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.prompt.InferenceRules;
import dev.warmpath.router.rig.Backend;
import dev.warmpath.router.rig.Certificates;
import dev.warmpath.router.rig.Rig;
import dev.warmpath.router.security.Secrets;
import io.envoyproxy.envoy.config.core.v3.HeaderMap;
import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import io.envoyproxy.envoy.config.core.v3.HeaderValueOption.HeaderAppendAction;
import io.envoyproxy.envoy.service.ext_proc.v3.ExternalProcessorProto;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpHeaders;
import io.envoyproxy.envoy.service.ext_proc.v3.ImmediateResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.StreamedBodyResponse;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.net.PemTrustOptions;
import java.io.ByteArrayOutputStream;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What gateways send, in every shape, and what they get. */
class PickerTest {

  private static final String CHAT = "/v1/chat/completions";
  private static final String BODY = "{\"model\":\"m\",\"messages\":[],\"user\":\"é\"}";
  private static final String STREAM = "{\"model\":\"m\",\"messages\":[],\"stream\":true}";
  private static final String USAGE =
      "\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":2,"
          + "\"prompt_tokens_details\":{\"cached_tokens\":4}}";
  private static final String EVENTS =
      "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"
          + "data: {\"choices\":[{\"delta\":{\"content\":\"b\"}}]}\n\n"
          + "data: {\"choices\":[],"
          + USAGE
          + "}\n\ndata: [DONE]\n\n";

  private Rig rig;
  private Gateway gateway;

  private void start(int replicas, UnaryOperator<ConfigTree> change) throws Exception {
    start(replicas, change, replicas);
  }

  private void start(int replicas, UnaryOperator<ConfigTree> change, int up) throws Exception {
    try (Socket reserved = Rig.reserved()) {
      int port = reserved.getLocalPort();
      rig = new Rig(replicas, tree -> change.apply(tree.set("picker.port", port, "test")), up);
      gateway = new Gateway(rig, port);
    }
  }

  private void start(int replicas) throws Exception {
    start(replicas, tree -> tree);
  }

  private static UnaryOperator<ConfigTree> set(String key, Object value) {
    return tree -> tree.set(key, value, "test");
  }

  @AfterEach
  void end() {
    if (gateway != null) {
      gateway.close();
      rig.close();
    }
  }

  private String endpoint(int replica) {
    return "127.0.0.1:" + rig.backends.get(replica).port();
  }

  private double metric(String series) {
    return rig.metrics().getOrDefault("warmpath_" + series, 0.0);
  }

  private static StreamedBodyResponse piece(ProcessingResponse answer) {
    return answer.hasRequestBody()
        ? answer.getRequestBody().getResponse().getBodyMutation().getStreamedResponse()
        : answer.getResponseBody().getResponse().getBodyMutation().getStreamedResponse();
  }

  @Test
  void requestInPiecesIsPickedAndGivenBackAndItsAnswerRead() throws Exception {
    start(1);
    Gateway.Stream stream = gateway.open().modes(FULL_DUPLEX_STREAMED, FULL_DUPLEX_STREAMED);
    stream.post(CHAT, "content-type", "application/json", Gateway.DESTINATION, "6.6.6.6:1");
    int cut = BODY.length() / 2;
    stream.body(STREAM.substring(0, cut), false).body(STREAM.substring(cut), false);
    stream.body("", true);
    assertThat(stream.picked(0)).isEqualTo(endpoint(0));
    ProcessingResponse head = stream.answers.get(0);
    assertThat(head.getRequestHeaders().getResponse().getClearRouteCache()).isTrue();
    assertThat(Gateway.mutation(head).getSetHeaders(0).getAppendAction())
        .isEqualTo(HeaderAppendAction.OVERWRITE_IF_EXISTS_OR_ADD);
    assertThat(Gateway.mutation(head).getRemoveHeadersList()).isEmpty();
    assertThat(stream.echo(1)).isEqualTo(STREAM);
    assertThat(rig.inFlight()).isEqualTo(1);

    int before = stream.answers.size();
    stream.answerHead(200, "text/event-stream", false);
    assertThat(Gateway.headers(Gateway.mutation(stream.await(before))))
        .containsEntry("x-warmpath-replica", "r0");
    for (int at = 0; at < EVENTS.length(); at += 7) {
      stream.answer(EVENTS.substring(at, Math.min(EVENTS.length(), at + 7)), false);
    }
    stream.answer("", true);
    Rig.until(() -> piece(stream.answers.get(stream.answers.size() - 1)).getEndOfStream());
    StringBuilder echoed = new StringBuilder();
    stream.answers.stream()
        .filter(ProcessingResponse::hasResponseBody)
        .forEach(answer -> echoed.append(piece(answer).getBody().toStringUtf8()));
    assertThat(echoed).hasToString(EVENTS);
    rig.untilIdle();
    assertThat(metric("cached_tokens_total{engine=\"r0\",model=\"m\"}")).isEqualTo(4);
    assertThat(metric("answer_tokens_total{engine=\"r0\",model=\"m\"}")).isEqualTo(2);
    assertThat(metric("outcomes_total{engine=\"r0\",outcome=\"completed\"}")).isEqualTo(1);
    stream.end();
    assertThat(stream.awaitStatus()).isEqualTo("0");
    Rig.until(() -> metric("picker_streams") == 0);
    assertThat(metric("picker_picks_total{result=\"picked\"}")).isEqualTo(1);
  }

  /** A gateway that says nothing of itself, and cuts where it likes. */
  @Test
  void largeBodyComesBackInPiecesThatEnvoyTakes() throws Exception {
    start(1);
    String large = "{\"model\":\"m\",\"prompt\":\"" + "x".repeat(3_000_000) + "\"}";
    Gateway.Stream stream = gateway.open();
    stream.post("/v1/completions");
    for (int at = 0; at < large.length(); at += 1_064_854) {
      stream.body(large.substring(at, Math.min(large.length(), at + 1_064_854)), false);
    }
    stream.body("", true);
    assertThat(stream.picked(0)).isEqualTo(endpoint(0));
    assertThat(stream.echo(1)).isEqualTo(large);
    assertThat(stream.answers.stream().skip(1))
        .allMatch(answer -> piece(answer).getBody().size() <= 62_000);
    Rig.until(() -> metric("request_bodies_bytes") == 0);
    finish(stream);
  }

  private void finish(Gateway.Stream stream) {
    stream.answerHead(200, "application/json", false).answer("{" + USAGE + "}", true);
    rig.untilIdle();
    stream.reset();
    Rig.until(() -> metric("picker_streams") == 0);
    rig.untilIdle();
  }

  @Test
  void secondEndIsIgnored() throws Exception {
    start(1);
    Gateway.Stream stream = gateway.open();
    stream.post(CHAT).body(BODY, true).body("", true);
    assertThat(stream.echo(1)).isEqualTo(BODY);
    finish(stream);
    assertThat(stream.answers.stream().filter(ProcessingResponse::hasRequestBody)).hasSize(1);
    assertThat(metric("picker_protocol_errors_total{reason=\"piece_after_end\"}")).isEqualTo(1);
  }

  @Test
  void trailersEndABody() throws Exception {
    start(1);
    Gateway.Stream stream = gateway.open();
    stream.post(CHAT).body(BODY, false).trailers();
    assertThat(stream.echo(1)).isEqualTo(BODY);
    assertThat(piece(stream.answers.get(1)).getEndOfStream()).isFalse();
    assertThat(stream.await(2).hasRequestTrailers()).isTrue();
    stream.answerHead(200, "application/json", false).answer("{" + USAGE + "}", false);
    stream.answerTrailers();
    rig.untilIdle();
    Rig.until(() -> stream.answers.get(stream.answers.size() - 1).hasResponseTrailers());
    assertThat(metric("cached_tokens_total{engine=\"r0\",model=\"m\"}")).isEqualTo(4);
  }

  @Test
  void bodyThatEnvoyKeepsIsAnsweredWithThePick() throws Exception {
    start(1);
    Gateway.Stream stream = gateway.open().modes(BUFFERED, STREAMED);
    stream.post(CHAT);
    assertThat(stream.await(0).hasRequestHeaders()).isTrue();
    stream.body(BODY, true);
    assertThat(stream.picked(1)).isEqualTo(endpoint(0));
    assertThat(stream.answers.get(1).getRequestBody().getResponse().hasBodyMutation()).isFalse();
    stream.answerHead(200, "application/json", false).answer("{" + USAGE + "}", true);
    rig.untilIdle();
    assertThat(stream.await(3).getResponseBody().getResponse().hasBodyMutation()).isFalse();
    assertThat(metric("cached_tokens_total{engine=\"r0\",model=\"m\"}")).isEqualTo(4);
  }

  @Test
  void pickByTheHeadAlone() throws Exception {
    start(1);
    Gateway.Stream models = gateway.open();
    models.head("GET", "/v1/models?limit=1", true);
    assertThat(models.picked(0)).isEqualTo(endpoint(0));
    models.answerHead(200, "application/json", true);
    rig.untilIdle();
    Gateway.Stream chat = gateway.open().modes(NONE, NONE);
    chat.post(CHAT);
    assertThat(chat.picked(0)).isEqualTo(endpoint(0));
    chat.answerHead(200, "application/json", false);
    chat.await(1);
    chat.end();
    rig.untilIdle();
    assertThat(metric("outcomes_total{engine=\"r0\",outcome=\"completed\"}")).isEqualTo(2);
  }

  @Test
  void loadIsGivenBackOnceHoweverACallEnds() throws Exception {
    start(1);
    Gateway.Stream inBody = gateway.open();
    inBody.post(CHAT).body("{", false);
    Rig.until(() -> rig.router.serving() == 1);
    inBody.reset();
    rig.untilIdle();
    Gateway.Stream beforeAnswer = gateway.open();
    beforeAnswer.post(CHAT).body(BODY, true);
    beforeAnswer.picked(0);
    beforeAnswer.reset();
    rig.untilIdle();
    Gateway.Stream inAnswer = gateway.open();
    inAnswer.post(CHAT).body(STREAM, true);
    inAnswer.picked(0);
    inAnswer.answerHead(200, "text/event-stream", false).answer("data: {\"a\"", false);
    inAnswer.await(3);
    inAnswer.end();
    rig.untilIdle();
    Gateway.Stream failing = gateway.open();
    failing.post(CHAT).body(BODY, true);
    failing.picked(0);
    failing.answerHead(500, "text/plain", false).answer("no", true);
    rig.untilIdle();
    Gateway.Stream unreachable = gateway.open();
    unreachable.post(CHAT).body(BODY, true);
    unreachable.picked(0);
    unreachable.answerHead(503, "text/plain", false).answer("upstream connect error", true);
    rig.untilIdle();
    failing.answerTrailers().end();
    unreachable.end();
    Rig.until(() -> metric("picker_streams") == 0);
    rig.untilIdle();
    Map<String, Double> metrics = rig.metrics();
    assertThat(metrics)
        .containsEntry("warmpath_outcomes_total{engine=\"r0\",outcome=\"cancelled\"}", 2.0)
        .containsEntry("warmpath_outcomes_total{engine=\"r0\",outcome=\"failed\"}", 2.0)
        .containsEntry("warmpath_picker_picks_total{result=\"left\"}", 1.0)
        .containsEntry("warmpath_replica_requests{replica=\"r0\"}", 0.0)
        .containsEntry("warmpath_request_bodies_bytes", 0.0);
  }

  private ImmediateResponse refusal(Gateway.Stream stream, int index) {
    ProcessingResponse answer = stream.await(index);
    assertThat(answer.hasImmediateResponse()).describedAs("%s", answer).isTrue();
    assertThat(stream.awaitStatus()).isEqualTo("0");
    return answer.getImmediateResponse();
  }

  private void refused(Gateway.Stream stream, int status, String code, String reason) {
    ImmediateResponse refusal = refusal(stream, 0);
    assertThat(refusal.getStatus().getCodeValue()).isEqualTo(status);
    assertThat(refusal.getBody().toStringUtf8()).contains("\"code\":\"" + code + "\"");
    Map<String, String> headers = Gateway.headers(refusal.getHeaders());
    assertThat(headers).containsEntry("content-type", "application/json");
    assertThat(headers.get("x-llm-d-request-dropped-reason")).isEqualTo(reason);
  }

  @Test
  void onlyEndpointsOfTheHintArePicked() throws Exception {
    start(3);
    String space = "envoy.lb.subset_hint";
    String key = "x-gateway-destination-endpoint-subset";
    for (int i = 0; i < 4; i++) {
      Gateway.Stream stream = gateway.open();
      stream.metadata(space, key, Gateway.list("9.9.9.9:1", endpoint(1)));
      stream.post(CHAT).body(BODY, true);
      assertThat(stream.picked(0)).isEqualTo(endpoint(1));
      stream.reset();
    }
    Gateway.Stream text = gateway.open();
    text.metadata(space, key, Gateway.text(endpoint(2) + ", 9.9.9.9"));
    text.post(CHAT).body(BODY, true);
    assertThat(text.picked(0)).isEqualTo(endpoint(2));
    text.reset();
    List<String> picked = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      Gateway.Stream all = gateway.open();
      all.metadata(space, key, Gateway.list("127.0.0.1"));
      all.post(CHAT).body(BODY, true);
      picked.add(all.picked(0));
      all.reset();
    }
    assertThat(picked).containsExactlyInAnyOrder(endpoint(0), endpoint(1), endpoint(2));
    Gateway.Stream none = gateway.open();
    none.metadata(space, key, Gateway.list()).post(CHAT);
    refused(none, 503, "no_replica", "rejected-no-endpoints");
    Gateway.Stream other = gateway.open();
    other.metadata(space, key, Gateway.list("9.9.9.9:80")).post(CHAT);
    refused(other, 503, "no_replica", "rejected-no-endpoints");
    rig.untilIdle();
  }

  @Test
  void whatTheProxyWouldRefuseIsRefused() throws Exception {
    start(1, set("limits.body-bytes", 1000));
    Gateway.Stream model = gateway.open();
    model.post(CHAT).body("{\"model\":\"other\"}", true);
    refused(model, 404, "model_not_found", null);
    Gateway.Stream path = gateway.open();
    path.post("/collective_rpc");
    refused(path, 404, "not_found", null);
    Gateway.Stream method = gateway.open();
    method.head("GET", CHAT, true);
    refused(method, 405, "method_not_allowed", null);
    Gateway.Stream large = gateway.open();
    large.post(CHAT).body("x".repeat(1001), false);
    refused(large, 413, "body_too_large", null);
    rig.untilIdle();
    assertThat(metric("rejected_total{code=\"body_too_large\"}")).isEqualTo(1);
    assertThat(metric("picker_immediate_responses_total{code=\"not_found\"}")).isEqualTo(1);
    assertThat(metric("request_bodies_bytes")).isZero();
  }

  @Test
  void fullFleetShedsAndQueues() throws Exception {
    start(
        1,
        tree ->
            tree.set("limits.replica-requests", 1, "test")
                .set("queue.requests", 1, "test")
                .set("queue.timeout-ms", 60_000, "test"));
    Gateway.Stream first = gateway.open();
    first.post(CHAT).body(BODY, true);
    first.picked(0);
    Gateway.Stream second = gateway.open();
    second.post(CHAT).body(BODY, true);
    Rig.until(() -> rig.router.dispatcher().queued() == 1);
    Gateway.Stream third = gateway.open();
    third.post(CHAT).body(BODY, true);
    refused(third, 429, "overloaded", "rejected-saturated");
    assertThat(second.answers).isEmpty();
    first.answerHead(200, "application/json", true);
    assertThat(second.picked(0)).isEqualTo(endpoint(0));
    Gateway.Stream fourth = gateway.open();
    fourth.post(CHAT).body(BODY, true);
    Rig.until(() -> rig.router.dispatcher().queued() == 1);
    fourth.reset();
    Rig.until(() -> rig.router.dispatcher().queued() == 0);
    second.reset();
    rig.untilIdle();
  }

  @Test
  void requestThatWaitedTooLongIsShed() throws Exception {
    start(
        1,
        tree -> tree.set("limits.replica-requests", 1, "test").set("queue.timeout-ms", 1, "test"));
    Gateway.Stream first = gateway.open();
    first.post(CHAT).body(BODY, true);
    first.picked(0);
    Gateway.Stream second = gateway.open();
    second.post(CHAT).body(BODY, true);
    refused(second, 429, "queue_timeout", "rejected-ttl-expired");
    first.reset();
    rig.untilIdle();
  }

  @Test
  void othersOfTheListAreNamedAndWhoServedIsAccounted() throws Exception {
    start(3, set("picker.endpoints", 2));
    Gateway.Stream stream = gateway.open();
    stream.post(CHAT).body(BODY, true);
    String[] list = stream.picked(0).split(",", -1);
    assertThat(list).hasSize(2).doesNotHaveDuplicates();
    stream.echo(1);
    stream.metadata("envoy.lb", "x-gateway-destination-endpoint-served", Gateway.text(list[1]));
    stream.answerHead(200, "application/json", false);
    ProcessingResponse head = stream.await(2);
    String served = Gateway.headers(Gateway.mutation(head)).get("x-warmpath-replica");
    assertThat(endpoint(Integer.parseInt(served.substring(1)))).isEqualTo(list[1]);
    assertThat(rig.inFlight()).isEqualTo(1);
    stream.answer("{" + USAGE + "}", true);
    rig.untilIdle();
    assertThat(metric("outcomes_total{engine=\"" + served + "\",outcome=\"completed\"}"))
        .isEqualTo(1);
    assertThat(metric("picker_picks_total{result=\"moved\"}")).isEqualTo(1);
    assertThat(
            rig.metrics().entrySet().stream()
                .filter(series -> series.getKey().contains("outcome=\"failed\""))
                .mapToDouble(Map.Entry::getValue)
                .sum())
        .isEqualTo(1);
  }

  @Test
  void headersThatSteerEnginesAreTheRoutersAlone() throws Exception {
    start(1);
    Gateway.Stream stream = gateway.open();
    stream.post(
        CHAT, "x-data-parallel-rank", "1", "accept-encoding", "gzip", "x-prefiller-host-port", "a");
    stream.body(BODY, true);
    stream.picked(0);
    assertThat(Gateway.mutation(stream.answers.get(0)).getRemoveHeadersList())
        .containsExactlyInAnyOrder(
            "x-data-parallel-rank", "accept-encoding", "x-prefiller-host-port");
    finish(stream);
  }

  @Test
  void sidecarIsToldWhoComputesThePrompt() throws Exception {
    start(
        2,
        tree ->
            tree.set("picker.routing-sidecar", true, "test").set("policy.split", "always", "test"));
    List<Replica> replicas = rig.router.fleet().replicas();
    rig.router.fleet().updateTransfer(replicas.get(0), transfer(KvTransfer.Role.PREFILL));
    rig.router.fleet().updateTransfer(replicas.get(1), transfer(KvTransfer.Role.DECODE));
    Gateway.Stream stream = gateway.open().modes(FULL_DUPLEX_STREAMED, FULL_DUPLEX_STREAMED);
    String steered = STREAM.replaceFirst("\\{", "{\"kv_transfer_params\":{\"remote_host\":\"x\"},");
    stream.post(CHAT, "content-type", "application/json", "x-prefiller-host-port", "6.6.6.6:1");
    stream.body(steered, true);
    assertThat(stream.picked(0)).isEqualTo(endpoint(1));
    assertThat(Gateway.headers(Gateway.mutation(stream.answers.get(0))))
        .containsEntry("x-prefiller-host-port", endpoint(0));
    assertThat(stream.echo(1)).doesNotContain("remote_host");
    assertThat(rig.inFlight()).isEqualTo(2);

    stream.answerHead(200, "text/event-stream", false);
    stream.answer(EVENTS, false);
    Rig.until(() -> rig.inFlight() == 1);
    stream.answer("", true);
    rig.untilIdle();
    assertThat(metric("outcomes_total{engine=\"r0\",outcome=\"completed\"}")).isEqualTo(1);
    assertThat(metric("outcomes_total{engine=\"r1\",outcome=\"completed\"}")).isEqualTo(1);
    assertThat(metric("split_requests_total{result=\"handed_over\"}")).isEqualTo(1);

    Gateway.Stream left = gateway.open();
    left.post(CHAT, "content-type", "application/json").body(BODY, true);
    left.picked(0);
    assertThat(rig.inFlight()).isEqualTo(2);
    left.reset();
    rig.untilIdle();
  }

  /** Without a side-car one engine serves all, and is steered by nobody. */
  @Test
  void clientsSteerNoEngineOfAPair() throws Exception {
    start(2, set("policy.split", "always"));
    List<Replica> replicas = rig.router.fleet().replicas();
    rig.router.fleet().updateTransfer(replicas.get(0), transfer(KvTransfer.Role.PREFILL));
    rig.router.fleet().updateTransfer(replicas.get(1), transfer(KvTransfer.Role.DECODE));
    Gateway.Stream stream = gateway.open();
    stream.post(CHAT, "content-type", "application/json");
    stream.body(BODY.replaceFirst("\\{", "{\"kv_transfer_params\":{\"remote_host\":\"x\"},"), true);
    assertThat(stream.picked(0)).isEqualTo(endpoint(1));
    assertThat(stream.echo(1)).doesNotContain("remote_host");
    assertThat(rig.inFlight()).isEqualTo(1);
    finish(stream);
  }

  private static KvTransfer transfer(KvTransfer.Role role) {
    return new KvTransfer(role, KvTransfer.Connector.NIXL, "", "h", 1, 0, false);
  }

  @Test
  void evictedRequestIsToldOrBrokenOff() throws Exception {
    start(
        1,
        tree ->
            tree.set("limits.replica-requests", 1, "test")
                .set("queue.priority-header", "x-priority", "test")
                .set("queue.evict", true, "test"));
    Gateway.Stream low = gateway.open();
    low.post(CHAT, "x-priority", "5").body(BODY, true);
    low.picked(0);
    Gateway.Stream second = gateway.open();
    second.post(CHAT, "x-priority", "4").body(BODY, true);
    second.picked(0);
    Rig.until(() -> low.answers.get(low.answers.size() - 1).hasImmediateResponse());
    ImmediateResponse told = low.answers.get(low.answers.size() - 1).getImmediateResponse();
    assertThat(told.getStatus().getCodeValue()).isEqualTo(429);
    assertThat(told.getBody().toStringUtf8()).contains("\"code\":\"evicted\"");
    assertThat(Gateway.headers(told.getHeaders()))
        .containsEntry("x-llm-d-request-dropped-reason", "evicted");
    second.answerHead(200, "text/event-stream", false);
    Gateway.Stream third = gateway.open();
    third.post(CHAT).body(BODY, true);
    third.picked(0);
    assertThat(second.awaitStatus()).isEqualTo("14");
    finish(third);
    rig.untilIdle();
  }

  /** The engine gets the pool's name of the model, the client its own. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void modelIsRewrittenInBothDirections(boolean isKept) throws Exception {
    start(1);
    InferenceRules.Rewrite toM =
        new InferenceRules.Rewrite("chat", List.of(new InferenceRules.Target("m", 1)));
    rig.router.rules().set("pool", new InferenceRules.Rules(Map.of(), List.of(toM)));
    Gateway.Stream stream =
        gateway.open().modes(isKept ? BUFFERED : FULL_DUPLEX_STREAMED, FULL_DUPLEX_STREAMED);
    stream.post(CHAT, "content-type", "application/json");
    stream.body("{\"model\":\"chat\",\"messages\":[]}", true);
    String sent =
        isKept
            ? stream
                .await(1)
                .getRequestBody()
                .getResponse()
                .getBodyMutation()
                .getBody()
                .toStringUtf8()
            : stream.echo(1);
    assertThat(sent).isEqualTo("{\"messages\":[],\"model\":\"m\"}");
    int before = stream.answers.size();
    stream.answerHead(200, "application/json", false);
    stream.answer("{\"id\":\"a\",\"mod", false).answer("el\":\"m\",\"x\":1}", false);
    stream.answer("", true);
    Rig.until(() -> stream.answers.size() == before + 4);
    StringBuilder given = new StringBuilder();
    stream.answers.stream()
        .filter(ProcessingResponse::hasResponseBody)
        .forEach(answer -> given.append(piece(answer).getBody().toStringUtf8()));
    assertThat(given).hasToString("{\"id\":\"a\",\"model\":\"chat\",\"x\":1}");
    rig.untilIdle();
  }

  @Test
  void coordinatorThatPrefersACacheIsToldThatThereIsNone() throws Exception {
    start(1);
    Gateway.Stream stream = gateway.open();
    stream.post(CHAT, "prefer", "respond-async, If-Available;wait=1").body(BODY, true);
    refused(stream, 412, "not_cached", null);
    rig.untilIdle();
    Gateway.Stream other = gateway.open();
    other.post(CHAT, "prefer", "if-available-not").body(BODY, true);
    other.picked(0);
    finish(other);
  }

  @Test
  void whatIsNoExtProcEndsTheCallAlone() throws Exception {
    start(1);
    Gateway.Stream mode = gateway.open().modes(STREAMED, STREAMED);
    mode.post(CHAT);
    assertThat(mode.awaitStatus()).isEqualTo("9");
    Gateway.Stream partial = gateway.open().modes(BUFFERED_PARTIAL, FULL_DUPLEX_STREAMED);
    partial.post(CHAT);
    assertThat(partial.awaitStatus()).as("a body of which the rest is not seen").isEqualTo("9");
    Gateway.Stream dots = gateway.open();
    dots.head("GET", "/v1/models/%2E%2e/secret", true);
    assertThat(refusal(dots, 0).getStatus().getCodeValue()).isEqualTo(404);
    Gateway.Stream noMessage = gateway.open();
    noMessage.raw(new byte[] {18, 9, 9});
    assertThat(noMessage.awaitStatus()).isEqualTo("3");
    Gateway.Stream twice = gateway.open();
    twice.post(CHAT).post(CHAT);
    assertThat(twice.awaitStatus()).isEqualTo("3");
    Gateway.Stream unknown = gateway.open("/other.Service/Method");
    unknown.end();
    assertThat(unknown.awaitStatus()).isEqualTo("12");
    Gateway.Stream good = gateway.open();
    good.post(CHAT).body(BODY, true);
    good.picked(0);
    finish(good);
    assertThat(metric("picker_protocol_errors_total{reason=\"malformed\"}")).isEqualTo(2);
    assertThat(metric("picker_protocol_errors_total{reason=\"body_mode\"}")).isEqualTo(2);
  }

  @Test
  void conformanceHooksNeedTheirKey() throws Exception {
    start(2, set("picker.conformance", true));
    for (int i = 0; i < 3; i++) {
      Gateway.Stream stream = gateway.open();
      stream.post(CHAT, "test-epp-endpoint-selection", endpoint(1)).body(BODY, true);
      assertThat(stream.picked(0)).isEqualTo(endpoint(1));
      stream.echo(1);
      stream.metadata(
          "envoy.lb", "x-gateway-destination-endpoint-served", Gateway.text("1.2.3.4:5"));
      stream.answerHead(200, "application/json", true);
      assertThat(Gateway.headers(Gateway.mutation(stream.await(2))))
          .containsEntry("x-conformance-test-served-endpoint", "1.2.3.4:5");
      stream.end();
    }
    rig.untilIdle();
  }

  @Test
  void healthIsTold() throws Exception {
    start(1);
    Gateway.Stream ready = gateway.open("/grpc.health.v1.Health/Check");
    ready.raw(new Wire.Writer().text(1, "readiness").written()).end();
    assertThat(ready.awaitStatus()).isEqualTo("0");
    assertThat(ready.messages).containsExactly(new byte[] {8, 1});
    Gateway.Stream unknown = gateway.open("/grpc.health.v1.Health/Check");
    unknown.raw(new Wire.Writer().text(1, "other").written()).end();
    assertThat(unknown.awaitStatus()).isEqualTo("5");
    Gateway.Stream watch = gateway.open("/grpc.health.v1.Health/Watch");
    watch.raw(new Wire.Writer().text(1, ExtProc.SERVICE).written());
    Rig.until(() -> watch.messages.size() == 1);
    rig.backends.get(0).health = 500;
    Rig.until(() -> watch.messages.size() == 2);
    assertThat(watch.messages).containsExactly(new byte[] {8, 1}, new byte[] {8, 2});
    Gateway.Stream live = gateway.open("/grpc.health.v1.Health/Check");
    live.raw(new Wire.Writer().text(1, "liveness").written()).end();
    assertThat(live.awaitStatus()).isEqualTo("0");
    assertThat(live.messages).containsExactly(new byte[] {8, 1});
  }

  @Test
  void thousandStreamsAtOnceLoseNothing() throws Exception {
    start(4);
    List<Gateway.Stream> streams = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      Gateway.Stream stream = gateway.open();
      stream.post(CHAT).body(STREAM, true);
      streams.add(stream);
    }
    for (Gateway.Stream stream : streams) {
      stream.echo(1);
      stream.answerHead(200, "text/event-stream", false);
      for (int piece = 0; piece < 20; piece++) {
        stream.answer("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n", false);
      }
      stream.answer("data: [DONE]\n\n", true);
    }
    for (Gateway.Stream stream : streams) {
      stream.await(23);
      assertThat(piece(stream.answers.get(23)).getEndOfStream()).isTrue();
      stream.reset();
    }
    rig.untilIdle();
    Rig.until(() -> metric("picker_streams") == 0);
    assertThat(
            rig.metrics().entrySet().stream()
                .filter(series -> series.getKey().contains("outcome=\"completed\""))
                .mapToDouble(Map.Entry::getValue)
                .sum())
        .isEqualTo(1000);
  }

  /** It checks that as many bytes come back as the head has announced. */
  @Test
  void agentgatewaySendsTheEndBehindTheBody() throws Exception {
    start(1);
    Gateway.Stream stream = gateway.open();
    stream.post(CHAT, "content-length", Integer.toString(BODY.getBytes(UTF_8).length));
    stream.body(BODY, false).body("", true);
    assertThat(stream.echo(1)).isEqualTo(BODY);
    stream.answerHead(200, "application/json", false);
    stream.answer("{" + USAGE + "}", false).answer("", true);
    rig.untilIdle();
    List<ProcessingResponse> bodies =
        stream.answers.stream().filter(a -> a.hasRequestBody() || a.hasResponseBody()).toList();
    Rig.until(() -> piece(stream.answers.get(stream.answers.size() - 1)).getEndOfStream());
    assertThat(bodies)
        .allMatch(answer ->
            (answer.hasRequestBody()
                    ? answer.getRequestBody().getResponse()
                    : answer.getResponseBody().getResponse())
                .getBodyMutation()
                .hasStreamedResponse());
  }

  @Test
  void compressedBodyGoesOnDecoded() throws Exception {
    start(1);
    ByteArrayOutputStream coded = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(coded)) {
      gzip.write(BODY.getBytes(UTF_8));
    }
    Gateway.Stream stream = gateway.open();
    stream.post(CHAT, "content-encoding", "gzip");
    stream.body(ByteString.copyFrom(coded.toByteArray()), true);
    stream.picked(0);
    assertThat(Gateway.mutation(stream.answers.get(0)).getRemoveHeadersList())
        .containsExactly("content-encoding");
    assertThat(stream.echo(1)).isEqualTo(BODY);
    Gateway.Stream kept = gateway.open().modes(BUFFERED, BUFFERED);
    kept.post(CHAT, "content-encoding", "gzip");
    kept.body(ByteString.copyFrom(coded.toByteArray()), true);
    kept.picked(1);
    assertThat(kept.answers.get(1).getRequestBody().getResponse().getBodyMutation().getBody())
        .isEqualTo(ByteString.copyFromUtf8(BODY));
    stream.reset();
    kept.reset();
    rig.untilIdle();
  }

  @Test
  void keysAreNeededAsAtTheProxy(@TempDir Path folder) throws Exception {
    Path keys = folder.resolve("keys.yaml");
    Files.writeString(keys, "keys:\n  - {name: a, sha256: [" + Secrets.hash("right") + "]}\n");
    start(1, set("auth.keys-file", keys.toString()));
    Gateway.Stream none = gateway.open();
    none.post(CHAT);
    refused(none, 401, "invalid_api_key", null);
    Gateway.Stream wrong = gateway.open();
    wrong.post(CHAT, "authorization", "Bearer wrong");
    refused(wrong, 401, "invalid_api_key", null);
    Gateway.Stream right = gateway.open();
    right.post(CHAT, "authorization", "Bearer right").body(BODY, true);
    right.picked(0);
    assertThat(Gateway.mutation(right.answers.get(0)).getRemoveHeadersList())
        .containsExactly("authorization");
    right.reset();
    rig.untilIdle();
  }

  /** Ranks are chosen by a header, and names are looked up. */
  @Test
  void rankIsNamedBesideTheEndpointOfAHost() throws Exception {
    Vertx vertx = Vertx.vertx();
    try (Backend ranked = new Backend(vertx)) {
      Map<String, Object> replica =
          Map.of(
              "name",
              "n",
              "url",
              "http://localhost:" + ranked.port(),
              "ranks",
              2L,
              "models",
              List.of("m"));
      start(0, tree -> tree.put("replicas", replica, "test").set("picker.endpoints", 3, "test"), 1);
      List<String> ranks = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        Gateway.Stream stream = gateway.open();
        stream.post(CHAT).body(BODY, true);
        assertThat(stream.picked(0)).isEqualTo("127.0.0.1:" + ranked.port());
        ranks.add(
            Gateway.headers(Gateway.mutation(stream.answers.get(0))).get("x-data-parallel-rank"));
      }
      assertThat(ranks).containsExactlyInAnyOrder("0", "1");
    } finally {
      end();
      gateway = null;
      vertx.close().toCompletionStage().toCompletableFuture().join();
    }
  }

  @Test
  void leavingPickerEndsWhatItHasBegun() throws Exception {
    start(1, set("shutdown.deadline-ms", 60_000));
    Gateway.Stream begun = gateway.open();
    begun.post(CHAT).body(BODY, true);
    begun.picked(0);
    Gateway.Stream watch = gateway.open("/grpc.health.v1.Health/Watch");
    watch.raw(new Wire.Writer().text(1, "readiness").written());
    Rig.until(() -> watch.messages.size() == 1);
    Thread leaving = new Thread(rig.router::close);
    leaving.start();
    Rig.until(() -> watch.messages.size() == 2);
    assertThat(watch.messages.get(1)).containsExactly(8, 2);
    Rig.until(() -> {
      try (Gateway other = new Gateway(rig, gateway.port())) {
        return refused(other) != null;
      }
    });

    Gateway.Stream next = gateway.open();
    next.post(CHAT).body(BODY, true);
    assertThat(next.picked(0)).as("its connection was there before").isEqualTo(endpoint(0));
    next.answerHead(200, "application/json", false).answer("{" + USAGE + "}", true);
    Rig.until(() -> next.answers.stream().anyMatch(ProcessingResponse::hasResponseBody));
    AtomicReference<ImmediateResponse> late = new AtomicReference<>();
    Rig.until(() -> {
      late.set(refused(gateway));
      return late.get() != null;
    });
    assertThat(late.get().getStatus().getCodeValue()).isEqualTo(503);
    assertThat(Gateway.headers(late.get().getHeaders()))
        .containsEntry("x-llm-d-request-dropped-reason", "rejected-shutting-down");
    assertThat(leaving.isAlive()).isTrue();
    begun.answerHead(200, "application/json", false).answer("{" + USAGE + "}", true);
    Rig.until(() -> begun.answers.stream().anyMatch(ProcessingResponse::hasResponseBody));
    leaving.join();
  }

  /** How a gateway's next request is refused; null if it is not. */
  private static ImmediateResponse refused(Gateway gateway) {
    try {
      Gateway.Stream stream = gateway.open();
      stream.post(CHAT).body(BODY, true);
      ProcessingResponse answer = stream.await(0);
      stream.reset();
      return answer.hasImmediateResponse() ? answer.getImmediateResponse() : null;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /** As gateways write them that have no bytes, in whatever case; of two, the bytes count. */
  @Test
  void headersAreReadFromEitherField() throws Exception {
    start(1);
    HeaderMap.Builder map =
        HeaderMap.newBuilder()
            .addHeaders(HeaderValue.newBuilder().setKey(":method").setValue("POST"))
            .addHeaders(
                HeaderValue.newBuilder()
                    .setKey(":path")
                    .setValue("/elsewhere")
                    .setRawValue(ByteString.copyFromUtf8(CHAT)))
            .addHeaders(HeaderValue.newBuilder().setKey("X-Prefiller-Host-Port").setValue("a"));
    Gateway.Stream stream = gateway.open();
    stream.send(
        ProcessingRequest.newBuilder().setRequestHeaders(HttpHeaders.newBuilder().setHeaders(map)));
    stream.body(BODY, true);
    assertThat(stream.picked(0)).isEqualTo(endpoint(0));
    assertThat(Gateway.mutation(stream.answers.get(0)).getRemoveHeadersList())
        .containsExactly("x-prefiller-host-port");
    finish(stream);
  }

  @Test
  void whatIsNoTextInAHintIsPassedOver() throws Exception {
    start(3);
    Value.Builder mixed = Value.newBuilder();
    mixed
        .getListValueBuilder()
        .addValues(Value.newBuilder().setNumberValue(12345))
        .addValues(Gateway.text(endpoint(1) + ", 9.9.9.9:1"))
        .addValues(Gateway.list(endpoint(1)));
    for (int i = 0; i < 3; i++) {
      Gateway.Stream stream = gateway.open();
      stream.metadata(
          "envoy.lb.subset_hint", "x-gateway-destination-endpoint-subset", mixed.build());
      stream.post(CHAT).body(BODY, true);
      assertThat(stream.picked(0)).isEqualTo(endpoint(1));
      stream.reset();
    }
    Gateway.Stream other = gateway.open();
    other.metadata("envoy.lb.subset_hint", "other", Gateway.list("9.9.9.9:1"));
    other.post(CHAT).body(BODY, true);
    other.picked(0);
    other.reset();
    rig.untilIdle();
  }

  /** As at the proxy: the engine says best what is wrong. */
  @ParameterizedTest
  @ValueSource(strings = {"no healthy upstream", "{\"messages\":[]}"})
  void bodyThatIsNoRequestIsTheEnginesToRefuse(String body) throws Exception {
    start(1);
    Gateway.Stream stream = gateway.open();
    stream.post(CHAT, "content-type", "application/json").body(body, true);
    stream.picked(0);
    assertThat(stream.echo(1)).isEqualTo(body);
    stream.answerHead(400, "application/json", false).answer("{}", true);
    rig.untilIdle();
    assertThat(metric("outcomes_total{engine=\"r0\",outcome=\"failed\"}")).isZero();
  }

  /** Engines and what stands before them answer errors in forms of their own. */
  @ParameterizedTest
  @CsvSource({
    "400, application/json, '{\"error\":{\"message\":\"too long\"}}'",
    "200, application/json, no healthy upstream",
    "200, text/event-stream, no event at all"
  })
  void answerThatIsNotUnderstoodGoesBackAsItCame(int status, String type, String answer)
      throws Exception {
    start(1);
    Gateway.Stream stream = gateway.open().modes(FULL_DUPLEX_STREAMED, FULL_DUPLEX_STREAMED);
    stream.post(CHAT, "content-type", "application/json").body(STREAM, true);
    stream.echo(1);
    int before = stream.answers.size();
    stream.answerHead(status, type, false).answer(answer, false).answer("", true);
    stream.await(before + 2);
    assertThat(Gateway.headers(Gateway.mutation(stream.answers.get(before))))
        .as("nothing of the frame of the answer is changed")
        .containsOnlyKeys("x-warmpath-replica");
    assertThat(Gateway.mutation(stream.answers.get(before)).getRemoveHeadersList()).isEmpty();
    assertThat(piece(stream.answers.get(before + 1)).getBody().toStringUtf8()).isEqualTo(answer);
    assertThat(piece(stream.answers.get(before + 2)).getEndOfStream()).isTrue();
    rig.untilIdle();
  }

  @Test
  void messageThatIsTooLongEndsTheCall() throws Exception {
    start(1, set("limits.body-bytes", 1 << 20));
    Gateway.Stream stream = gateway.open();
    stream.post(CHAT).body("x".repeat(3 << 20), true);
    assertThat(stream.awaitStatus()).isEqualTo("8");
    rig.untilIdle();
    assertThat(metric("picker_protocol_errors_total{reason=\"malformed\"}")).isEqualTo(1);
  }

  /** That nobody is left is not the client's pace. */
  @Test
  void whoWaitsInVainForAFleetThatIsDownIsToldSo() throws Exception {
    start(
        1,
        tree ->
            tree.set("limits.replica-requests", 1, "test").set("queue.timeout-ms", 500, "test"));
    Gateway.Stream first = gateway.open();
    first.post(CHAT).body(BODY, true);
    first.picked(0);
    rig.backends.get(0).health = 500;
    Rig.until(() -> rig.up() == 0);
    Gateway.Stream second = gateway.open();
    second.post(CHAT).body(BODY, true);
    refused(second, 503, "queue_timeout", "rejected-no-endpoints");
    first.reset();
    rig.untilIdle();
  }

  @Test
  void whoWaitsForAReplicaThatLeavesIsToldSo() throws Exception {
    start(1, set("limits.replica-requests", 1));
    Gateway.Stream first = gateway.open();
    first.post(CHAT).body(BODY, true);
    first.picked(0);
    Gateway.Stream second = gateway.open();
    second.post(CHAT).body(BODY, true);
    Rig.until(() -> rig.router.dispatcher().queued() == 1);
    rig.router.fleet().replicas().get(0).draining(true);
    refused(second, 503, "no_replica", "rejected-no-endpoints");
    first.reset();
    rig.untilIdle();
  }

  @Test
  void engineTakesPartInTheClientsTrace() throws Exception {
    start(1, set("tracing.endpoint", "http://127.0.0.1:1/v1/traces"));
    String trace = "0af7651916cd43dd8448eb211c80319c";
    Gateway.Stream stream = gateway.open();
    stream.post(CHAT, "traceparent", "00-" + trace + "-b7ad6b7169203331-01").body(BODY, true);
    stream.picked(0);
    assertThat(Gateway.headers(Gateway.mutation(stream.answers.get(0))).get("traceparent"))
        .startsWith("00-" + trace + "-")
        .doesNotContain("b7ad6b7169203331");
    finish(stream);
  }

  /** Istio's {@code override_host} has the metadata as its only source. */
  @Test
  void istioReadsTheMetadataAlone() throws Exception {
    start(3, set("picker.endpoints", 3));
    Gateway.Stream stream = gateway.open().modes(FULL_DUPLEX_STREAMED, FULL_DUPLEX_STREAMED);
    stream.post(CHAT, "content-type", "application/json").body(BODY, false).body("", true);
    Struct told = stream.await(0).getDynamicMetadata();
    assertThat(told.getFieldsMap()).containsOnlyKeys("envoy.lb");
    Struct space = told.getFieldsOrThrow("envoy.lb").getStructValue();
    assertThat(space.getFieldsMap()).containsOnlyKeys(Gateway.DESTINATION);
    Value value = space.getFieldsOrThrow(Gateway.DESTINATION);
    assertThat(value.getKindCase()).isEqualTo(Value.KindCase.STRING_VALUE);
    assertThat(value.getStringValue().split(",", -1))
        .containsExactlyInAnyOrder(endpoint(0), endpoint(1), endpoint(2));
    assertThat(stream.echo(1)).isEqualTo(BODY);
    stream.metadata(
        "envoy.lb",
        "x-gateway-destination-endpoint-served",
        Gateway.text(value.getStringValue().split(",", -1)[0]));
    finish(stream);
    assertThat(metric("picker_picks_total{result=\"moved\"}")).isZero();
  }

  /** Envoy 1.35 to 1.37 sends a second end of bodies above 1 MB, whenever it likes. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void secondEndOfALargeBodyIsIgnored(boolean isLate) throws Exception {
    start(1);
    String large = "{\"model\":\"m\",\"messages\":[],\"user\":\"" + "x".repeat(2_000_000) + "\"}";
    Gateway.Stream stream = gateway.open().modes(FULL_DUPLEX_STREAMED, FULL_DUPLEX_STREAMED);
    stream.post(CHAT).body(large.substring(0, 1_064_854), false);
    stream.body(large.substring(1_064_854), true);
    if (isLate) {
      stream.picked(0);
    }
    stream.body("", true);
    assertThat(stream.echo(1)).isEqualTo(large);
    finish(stream);
    assertThat(
            stream.answers.stream()
                .filter(ProcessingResponse::hasRequestBody)
                .filter(answer -> piece(answer).getEndOfStream()))
        .hasSize(1);
    assertThat(metric("picker_protocol_errors_total{reason=\"piece_after_end\"}")).isEqualTo(1);
  }

  /**
   * It compares the body with the length that the head has announced, in both directions. Envoy
   * drops the length.
   */
  @Test
  void agentgatewayIsToldTheLengthOfAChangedBody() throws Exception {
    start(1);
    InferenceRules.Rewrite toM =
        new InferenceRules.Rewrite("chat", List.of(new InferenceRules.Target("m", 1)));
    rig.router.rules().set("pool", new InferenceRules.Rules(Map.of(), List.of(toM)));
    String body = "{\"model\":\"chat\",\"messages\":[]}";
    Gateway.Stream stream = gateway.open().modes(FULL_DUPLEX_STREAMED, FULL_DUPLEX_STREAMED);
    stream.post(CHAT, "content-length", Integer.toString(body.length()));
    stream.body(body, false).body("", true);
    String sent = stream.echo(1);
    assertThat(sent).hasSize(body.length() - 3);
    assertThat(Gateway.headers(Gateway.mutation(stream.answers.get(0))))
        .containsEntry("content-length", Integer.toString(sent.length()));
    int before = stream.answers.size();
    stream.answerHead(200, "application/json", false, "content-length", "13");
    stream.answer("{\"model\":\"m\"}", true);
    assertThat(Gateway.mutation(stream.await(before)).getRemoveHeadersList())
        .as("the answer's length is not known yet")
        .containsExactly("content-length");
    rig.untilIdle();
    stream.reset();
    Gateway.Stream other = gateway.open();
    other.post(CHAT, "content-length", Integer.toString(BODY.getBytes(UTF_8).length));
    other.body(BODY, true);
    other.picked(0);
    assertThat(Gateway.headers(Gateway.mutation(other.answers.get(0))))
        .doesNotContainKey("content-length");
    finish(other);
  }

  /** Bodies that come need room; answers that run, and questions for health, do not. */
  @Test
  void fullRoomOfBodiesEndsNothingElse() throws Exception {
    start(1, tree -> tree.set("limits.bodies-mb", 1, "test"));
    Gateway.Stream running = gateway.open();
    running.post(CHAT).body(STREAM, true);
    running.picked(0);
    running.answerHead(200, "text/event-stream", false);
    Gateway.Stream filling = gateway.open();
    filling.post(CHAT).body("x".repeat(700_000), false);
    Rig.until(() -> metric("request_bodies_bytes") >= 700_000);

    Gateway.Stream refused = gateway.open();
    refused.post(CHAT).body("x".repeat(700_000), false);
    refused(refused, 429, "overloaded", "rejected-saturated");
    String piece = "data: " + "y".repeat(700_000) + "\n\n";
    int before = running.answers.size();
    running.answer(piece, false);
    assertThat(piece(running.await(before)).getBody().size()).isEqualTo(piece.length());
    Gateway.Stream health = gateway.open("/grpc.health.v1.Health/Check");
    health.raw(new Wire.Writer().text(1, "readiness").written()).end();
    assertThat(health.awaitStatus()).isEqualTo("0");
    running.answer("", true);
    filling.reset();
    rig.untilIdle();
    Rig.until(() -> metric("request_bodies_bytes") == 0);
  }

  /** The body of a rewritten request is in the room of bodies, and nowhere else. */
  @Test
  void rewrittenBodyIsCountedAndDropped() throws Exception {
    start(1, set("limits.replica-requests", 1));
    InferenceRules.Rewrite toM =
        new InferenceRules.Rewrite("c".repeat(50_000), List.of(new InferenceRules.Target("m", 1)));
    rig.router.rules().set("pool", new InferenceRules.Rules(Map.of(), List.of(toM)));
    Gateway.Stream first = gateway.open();
    first.post(CHAT).body(BODY, true);
    first.picked(0);
    Gateway.Stream second = gateway.open();
    second.post(CHAT).body("{\"model\":\"" + "c".repeat(50_000) + "\",\"messages\":[]}", true);
    Rig.until(() -> rig.router.dispatcher().queued() == 1);
    int rewritten = "{\"messages\":[],\"model\":\"m\"}".length();
    Rig.until(() -> metric("request_bodies_bytes") == rewritten);
    first.reset();
    second.picked(0);
    second.echo(1);
    Rig.until(() -> metric("request_bodies_bytes") == 0);
    second.reset();
    rig.untilIdle();
  }

  /** Gateways of Kubernetes take any certificate of a picker, but want one. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void portSpeaksTls(boolean isSelfSigned, @TempDir Path folder) throws Exception {
    Certificates authority = new Certificates();
    Certificates.Issued issued = authority.issue("127.0.0.1");
    Path certificate = Certificates.replace(folder.resolve("cert"), issued.certificatePem());
    Path key = Certificates.replace(folder.resolve("key"), issued.keyPem());
    start(
        1,
        tree ->
            isSelfSigned
                ? tree.set("picker.self-signed", true, "test")
                : tree.set("picker.tls-cert", certificate.toString(), "test")
                    .set("picker.tls-key", key.toString(), "test"));
    try (Gateway clear = gateway) {
      assertThatThrownBy(clear::open).isInstanceOf(Exception.class);
    }
    HttpClientOptions tls = new HttpClientOptions().setSsl(true).setUseAlpn(true);
    String ca = authority.writeTo(folder.resolve("ca")).toString();
    gateway =
        new Gateway(
            rig,
            gateway.port(),
            isSelfSigned
                ? tls.setTrustAll(true).setVerifyHost(false)
                : tls.setTrustOptions(new PemTrustOptions().addCertPath(ca)));
    Gateway.Stream stream = gateway.open();
    stream.post(CHAT).body(BODY, true);
    assertThat(stream.picked(0)).isEqualTo(endpoint(0));
    finish(stream);
    String shown = isSelfSigned ? "picker.self-signed" : "picker.tls-cert";
    assertThat(metric("certificate_expiry_seconds{file=\"" + shown + "\"}")).isPositive();
  }

  @Test
  void oneCertificateIsEnough() {
    assertThatThrownBy(() ->
            ConfigTree.empty()
                .set("picker.self-signed", true, "test")
                .set("picker.tls-cert", "a", "test")
                .set("picker.tls-key", "b", "test")
                .config())
        .hasMessageContaining("picker.self-signed");
  }

  @ParameterizedTest
  @ValueSource(strings = {"v1", "v1alpha"})
  void servicesAreDescribed(String version) throws Exception {
    start(1);
    Gateway.Stream asked =
        gateway.open("/grpc.reflection." + version + ".ServerReflection/ServerReflectionInfo");
    asked.raw(new Wire.Writer().text(7, "*").written());
    Rig.until(() -> asked.messages.size() == 1);
    assertThat(new String(asked.messages.get(0), UTF_8))
        .contains(ExtProc.SERVICE, "grpc.health.v1.Health");
    Set<String> files = new HashSet<>();
    Deque<byte[]> next = new ArrayDeque<>();
    next.add(new Wire.Writer().text(4, ExtProc.SERVICE).written());
    next.add(new Wire.Writer().text(4, "grpc.health.v1.Health.Check").written());
    while (!next.isEmpty()) { // as grpcurl does: the service's file, then those that it needs
      int before = asked.messages.size();
      asked.raw(next.remove());
      Rig.until(() -> asked.messages.size() == before + 1);
      Wire.Reader answer = new Wire.Reader(asked.messages.get(before));
      while (answer.next()) {
        assertThat(answer.field()).as("an error").isNotEqualTo(7);
        if (answer.field() == 4) {
          Wire.Reader given = answer.message();
          assertThat(given.next()).isTrue();
          FileDescriptorProto file = FileDescriptorProto.parseFrom(given.bytes());
          files.add(file.getName());
          file.getDependencyList().stream()
              .filter(files::add)
              .forEach(name -> next.add(new Wire.Writer().text(3, name).written()));
        }
      }
    }
    assertThat(files).contains("envoy/config/core/v3/base.proto", "grpc/health/v1/health.proto");
    asked.raw(new Wire.Writer().text(4, "no.Such").written());
    Rig.until(
        () -> new String(asked.messages.get(asked.messages.size() - 1), UTF_8).contains("no such"));
    asked.end();
    Rig.until(() -> "0".equals(asked.status));
  }

  /** The question is a oneof: were each of its fields answered, 4 kB would get megabytes. */
  @Test
  void oneQuestionGetsOneDescription() throws Exception {
    start(1);
    Gateway.Stream asked =
        gateway.open("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo");
    Wire.Writer often = new Wire.Writer();
    for (int i = 0; i < 80; i++) {
      often.text(4, ExtProc.SERVICE);
    }
    assertThat(described(asked, often.text(4, "grpc.health.v1.Health")))
        .containsExactly("grpc/health/v1/health.proto");
    assertThat(described(asked, often.number(6, 1))).as("of extensions").isEmpty();
    Map<String, String> files =
        Map.of(
            "grpc.health.v1.HealthCheckResponse.ServingStatus",
            "grpc/health/v1/health.proto",
            "envoy.service.ext_proc.v3.CommonResponse.ResponseStatus",
            "envoy/service/ext_proc/v3/external_processor.proto",
            "google.protobuf.Struct.FieldsEntry",
            "google/protobuf/struct.proto",
            ExtProc.SERVICE + ".Process",
            "envoy/service/ext_proc/v3/external_processor.proto");
    for (Map.Entry<String, String> file : files.entrySet()) {
      assertThat(described(asked, new Wire.Writer().text(4, file.getKey())))
          .containsExactly(file.getValue());
    }
    asked.end();
    Rig.until(() -> "0".equals(asked.status));
  }

  private static List<String> described(Gateway.Stream asked, Wire.Writer question)
      throws Exception {
    int before = asked.messages.size();
    asked.raw(question.written());
    Rig.until(() -> asked.messages.size() == before + 1);
    List<String> files = new ArrayList<>();
    Wire.Reader answer = new Wire.Reader(asked.messages.get(before));
    while (answer.next()) {
      if (answer.field() == 4) {
        Wire.Reader given = answer.message();
        assertThat(given.next()).isTrue();
        files.add(FileDescriptorProto.parseFrom(given.bytes()).getName());
      }
    }
    return files;
  }

  /** {@code -Dwarmpath.write=true} writes it anew. */
  @Test
  void descriptionsAreThosePublished() throws Exception {
    Map<String, FileDescriptor> all = new LinkedHashMap<>();
    collect(ExternalProcessorProto.getDescriptor(), all);
    FileDescriptorSet.Builder set = FileDescriptorSet.newBuilder();
    all.values().forEach(file -> set.addFile(file.toProto()));
    byte[] published = set.addFile(health()).build().toByteArray();
    Path file =
        Path.of("src/main/resources/dev/warmpath/router/picker/services.protoset").toAbsolutePath();
    if (Boolean.getBoolean("warmpath.write")) {
      Files.createDirectories(file.getParent());
      Files.write(file, published);
    }
    assertThat(Files.readAllBytes(file)).isEqualTo(published);
  }

  private static void collect(FileDescriptor file, Map<String, FileDescriptor> all) {
    if (all.putIfAbsent(file.getName(), file) == null) {
      file.getDependencies().forEach(needed -> collect(needed, all));
    }
  }

  /** As {@code grpc/health/v1/health.proto} has it. */
  private static FileDescriptorProto health() {
    DescriptorProto.Builder request = DescriptorProto.newBuilder().setName("HealthCheckRequest");
    request
        .addFieldBuilder()
        .setName("service")
        .setNumber(1)
        .setLabel(FieldDescriptorProto.Label.LABEL_OPTIONAL)
        .setType(FieldDescriptorProto.Type.TYPE_STRING);
    DescriptorProto.Builder response = DescriptorProto.newBuilder().setName("HealthCheckResponse");
    response
        .addFieldBuilder()
        .setName("status")
        .setNumber(1)
        .setLabel(FieldDescriptorProto.Label.LABEL_OPTIONAL)
        .setType(FieldDescriptorProto.Type.TYPE_ENUM)
        .setTypeName(".grpc.health.v1.HealthCheckResponse.ServingStatus");
    EnumDescriptorProto.Builder status = response.addEnumTypeBuilder().setName("ServingStatus");
    for (String value : List.of("UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN")) {
      status.addValueBuilder().setName(value).setNumber(status.getValueCount() - 1);
    }
    ServiceDescriptorProto.Builder service = ServiceDescriptorProto.newBuilder().setName("Health");
    for (String method : List.of("Check", "Watch")) {
      service
          .addMethodBuilder()
          .setName(method)
          .setInputType(".grpc.health.v1.HealthCheckRequest")
          .setOutputType(".grpc.health.v1.HealthCheckResponse")
          .setServerStreaming(method.equals("Watch"));
    }
    return FileDescriptorProto.newBuilder()
        .setName("grpc/health/v1/health.proto")
        .setPackage("grpc.health.v1")
        .setSyntax("proto3")
        .addMessageType(request)
        .addMessageType(response)
        .addService(service)
        .build();
  }

  /**
   * llm-d's coordinator asks once for each stage; its gateway sends each to the pool of that role,
   * and what the stages tell each other goes on as it is.
   */
  @Test
  void coordinatorsParametersGoOnInAPoolOfOneRole() throws Exception {
    start(1);
    String body = BODY.replaceFirst("\\{", "{\"kv_transfer_params\":{\"remote_host\":\"x\"},");
    Gateway.Stream stream = gateway.open();
    stream.post(CHAT, "content-type", "application/json", "epp-profile", "decode");
    stream.body(body, true);
    assertThat(stream.picked(0)).isEqualTo(endpoint(0));
    assertThat(stream.echo(1)).isEqualTo(body);
    finish(stream);
  }

  /** As tools do that have one message to send. */
  @Test
  void whoSendsNoMoreIsAnsweredAllTheSame() throws Exception {
    start(1);
    for (int i = 0; i < 20; i++) {
      Gateway.Stream models = gateway.open();
      models.head("GET", "/v1/models", true).end();
      assertThat(models.picked(0)).isEqualTo(endpoint(0));
      assertThat(models.awaitStatus()).isEqualTo("0");
      Gateway.Stream chat = gateway.open();
      chat.post(CHAT).body(BODY, true).end();
      assertThat(chat.echo(1)).isEqualTo(BODY);
      assertThat(chat.awaitStatus()).isEqualTo("0");
    }
    rig.untilIdle();
    Rig.until(() -> metric("picker_streams") == 0);
    assertThat(metric("outcomes_total{engine=\"r0\",outcome=\"cancelled\"}")).isEqualTo(40);
  }

  /** Speech comes as a form, in bytes that are no text. */
  @Test
  void formGoesOnByteByByte() throws Exception {
    start(1);
    ByteArrayOutputStream form = new ByteArrayOutputStream();
    form.write(
        "--b\r\ncontent-disposition: form-data; name=\"model\"\r\n\r\nm\r\n".getBytes(UTF_8));
    form.write("--b\r\ncontent-disposition: form-data; name=\"file\"\r\n\r\n".getBytes(UTF_8));
    for (int i = 0; i < 200_000; i++) {
      form.write(i * 31);
    }
    form.write("\r\n--b--\r\n".getBytes(UTF_8));
    ByteString sent = ByteString.copyFrom(form.toByteArray());
    Gateway.Stream stream = gateway.open();
    stream.post(
        "/v1/audio/transcriptions",
        "content-type",
        "multipart/form-data; boundary=b",
        "content-length",
        Integer.toString(sent.size()));
    stream.body(sent.substring(0, 100_000), false).body(sent.substring(100_000), true);
    assertThat(stream.picked(0)).isEqualTo(endpoint(0));
    stream.echo(1);
    ByteString given =
        stream.answers.stream()
            .filter(ProcessingResponse::hasRequestBody)
            .map(answer -> piece(answer).getBody())
            .reduce(ByteString.EMPTY, ByteString::concat);
    assertThat(given).isEqualTo(sent);
    finish(stream);
  }
}
