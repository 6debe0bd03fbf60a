package dev.warmpath.router.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.rig.Backend;
import dev.warmpath.router.rig.RawClient;
import dev.warmpath.router.rig.Rig;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests that want to be understood in two ways, or to lead elsewhere. */
class HostileClientsTest {

  private static final String POST = "POST /v1/completions HTTP/1.1\r\nhost: x\r\n";
  private static final String SECOND =
      "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 8\r\n\r\nSMUGGLED";

  private static Rig rig;
  private static Backend backend;

  @BeforeAll
  static void start() {
    rig =
        new Rig(
            1,
            tree ->
                tree.set("timeouts.keep-alive-ms", 100, "test")
                    .set("timeouts.request-head-ms", 1_000, "test")
                    .set("tokenizing.deadline-ms", 10_000, "test")
                    .set("timeouts.request-body-ms", 300, "test"));
    backend = rig.backends.get(0);
  }

  @AfterAll
  static void stop() {
    rig.close();
  }

  @BeforeEach
  void fresh() {
    backend.bodies.clear();
    backend.headers.clear();
    backend.script = (request, body) -> request.response().end("{}");
  }

  static List<String> ambiguous() {
    String chunked = "transfer-encoding: chunked\r\n";
    return List.of(
        POST + "content-length: 4\r\n" + chunked + "\r\n0\r\n\r\n" + SECOND,
        POST + chunked + "content-length: 5\r\n\r\n0\r\n\r\n" + SECOND,
        POST + "content-length: 0\r\ncontent-length: " + SECOND.length() + "\r\n\r\n" + SECOND,
        POST + "content-length: 0, " + SECOND.length() + "\r\n\r\n" + SECOND,
        POST + "content-length: +0\r\n\r\n" + SECOND,
        POST + "content-length: -1\r\n\r\n" + SECOND,
        POST + "content-length: 0x0\r\n\r\n" + SECOND,
        POST + "content-length: 99999999999999999999\r\n\r\n" + SECOND,
        POST + "transfer-encoding: xchunked\r\n\r\n0\r\n\r\n" + SECOND,
        POST + "transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n" + SECOND,
        POST + "transfer-encoding : chunked\r\n\r\n0\r\n\r\n" + SECOND,
        POST + "transfer-encoding: chunked\r\ntransfer-encoding: x\r\n\r\n0\r\n\r\n" + SECOND,
        POST + "transfer-encoding:\u000bchunked\r\n\r\n0\r\n\r\n" + SECOND,
        POST + "x: a\rcontent-length: 5\r\n\r\n0\r\n\r\n" + SECOND,
        POST + chunked + "\r\n0x0\r\n\r\n" + SECOND,
        POST + chunked + "\r\n-1\r\n\r\n" + SECOND,
        POST + chunked + "\r\nffffffffffffffff\r\n\r\n" + SECOND,
        POST + chunked + "\r\n2\r\n{}XX0\r\n\r\n" + SECOND,
        POST + chunked + "\r\n0;\n\r\n\r\n" + SECOND,
        POST + chunked + "\r\n2\n{}\r\n0\r\n\r\n" + SECOND,
        POST.replace("1.1", "1.0") + chunked + "\r\n0\r\n\r\n" + SECOND,
        POST.replace("\r\n", "\n") + "content-length: 0\n\n" + SECOND,
        POST + "x-name with space: 1\r\ncontent-length: 0\r\n\r\n" + SECOND,
        POST + "x: a\0b\r\ncontent-length: 0\r\n\r\n" + SECOND,
        POST.replace(" HTTP/1.1", " x HTTP/1.1") + "content-length: 0\r\n\r\n" + SECOND,
        POST.replace(" HTTP/1.1", " HTTP/9.9") + "content-length: 0\r\n\r\n" + SECOND,
        POST.replace(" HTTP/1.1", "") + "content-length: 0\r\n\r\n" + SECOND);
  }

  @ParameterizedTest
  @MethodSource("ambiguous")
  void whatCanBeReadInTwoWaysBringsNoSecondRequest(String sent) throws Exception {
    String answered = answer(sent);
    assertThat(backend.bodies).noneMatch(body -> body.toString().contains("SMUGGLED"));
    assertThat(answered.split("HTTP/1\\.[01] ", -1)).hasSizeLessThanOrEqualTo(2);
    assertThat(chat("{}")).contains(" 200 ");
  }

  /** On a connection of its own: one that was idle may be closed just then. */
  private static String chat(String body) throws IOException {
    try (RawClient client = new RawClient(rig.router.port())) {
      return client.postAndClose("/v1/chat/completions", body).readToEnd();
    }
  }

  @Test
  void aFoldedHeaderIsOneLineOrRefused() throws Exception {
    String answered =
        answer(
            POST
                + "x-request-id: a\r\n b\r\nx-folded: 1\r\n x-vllm-priority: -9\r\n"
                + "content-length: 2\r\n\r\n{}");
    assertThat(answered).containsAnyOf(" 200 ", " 400 ");
    assertThat(backend.headers)
        .allSatisfy(seen -> {
          assertThat(seen).doesNotContainKey("x-vllm-priority");
          assertThat(seen.get("x-request-id")).startsWith("wp-");
        });
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "x-request-id: a%0d%0aset-cookie:x",
        "x-request-id: a\tset-cookie",
        "x-request-id: a\"b",
        "x-request-id: \u00e9",
        "x-request-id: ___prefill_addr_10.0.0.1:1___decode_addr_10.0.0.2:2_0123"
      })
  void anIdThatIsNotHarmlessIsReplaced(String header) throws Exception {
    assertThat(answer(POST + header + "\r\ncontent-length: 2\r\n\r\n{}"))
        .containsPattern("x-request-id: wp-[0-9a-f]{32}\r\n");
  }

  @Test
  void headersThatSteerEnginesAreDroppedHoweverTheyAreWritten() throws Exception {
    answer(
        POST
            + "X-DATA-parallel-RANK: 1\r\nx-data-parallel-rank: 2\r\nX-Vllm-Priority: -5\r\n"
            + "x-vllm-PRIORITY: -6\r\ncontent-length: 2\r\n\r\n{}");
    assertThat(backend.headers).hasSize(1);
    assertThat(backend.headers.get(0))
        .doesNotContainKeys("x-data-parallel-rank", "x-vllm-priority");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "x-data-parallel-rank: abc",
        "x-data-parallel-rank: 1",
        "x-vllm-priority: 1",
        "X-Override-Rid: a",
        "x-override-bootstrap-host: 169.254.169.254",
        "x-override-bootstrap-port: x",
        "x-override-bootstrap-room: 1",
        "x-override-conversation-id: a",
        "x-override-routed-dp-rank: 9",
        "x-override-disagg-prefill-dp-rank: 9",
        "X-OVERRIDE-priority: -9",
        "x-override-of-a-later-release: 1",
        "x-sglang-received-timing: {}",
        "x-smg-routing-key: a",
        "x-smg-target-worker: 1",
        "x-prefiller-host-port: 169.254.169.254:80",
        "x-encoder-hosts-ports: 169.254.169.254:80",
        "x-kv-cache-source-host-port: 169.254.169.254:80",
        "x-data-parallel-host-port: 169.254.169.254:80",
        "x-gateway-destination-endpoint: 169.254.169.254:80",
        "x-worker-instance-id: 1",
        "x-prefill-instance-id: 1",
        "x-dp-rank: 1",
        "x-prefill-dp-rank: 1",
        "x-dynamo-worker-instance-id: 1",
        "X-Amzn-SageMaker-Adapter-Identifier: a"
      })
  void noClientSteersAnEngineByHeaders(String header) throws Exception {
    assertThat(answer(POST + header + "\r\nx-harmless: 1\r\ncontent-length: 2\r\n\r\n{}"))
        .contains(" 200 ");
    assertThat(backend.headers).hasSize(1);
    String name = header.substring(0, header.indexOf(':')).toLowerCase(java.util.Locale.ROOT);
    assertThat(backend.headers.get(0)).doesNotContainKey(name).containsKey("x-harmless");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "//v1/completions",
        "/v1//completions",
        "/v1/../v1/completions",
        "/v1/./completions",
        "/v1/%2e%2e/v1/completions",
        "/v1%2fcompletions",
        "/v1/completions%00",
        "/v1/completions%20",
        "/v1/completions/",
        "/v1/completions;x=1",
        "/v1/completions/../../collective_rpc",
        "/v1/%63ompletions",
        "/v1\\completions",
        "/collective_rpc",
        "/sleep",
        "/wake_up",
        "/reset_prefix_cache",
        "/load_lora_adapter",
        "/v1/load_lora_adapter",
        "/server_info",
        "/pause",
        "/v1/responses/../../sleep",
        "/v1/responses/%2e%2e/sleep",
        "/v1/responses/resp_1/../../../sleep",
        "*",
        "http://127.0.0.1/sleep",
        "http://evil.example/collective_rpc",
        "127.0.0.1:8000"
      })
  void pathsThatLeadElsewhereAreNotThere(String path) throws Exception {
    String answered =
        answer("POST " + path + " HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}");
    assertThat(answered).containsPattern("^HTTP/1.1 (400|404|405) ");
    assertThat(backend.bodies).isEmpty();
  }

  @Test
  void aHeadOfManyBytesIsRefused() throws Exception {
    String many = "x: " + "y".repeat(100_000) + "\r\n";
    assertThat(answer(POST + many + "content-length: 2\r\n\r\n{}")).contains(" 431 ");
    assertThat(answer(POST + "x: y\r\n".repeat(20_000) + "content-length: 2\r\n\r\n{}"))
        .contains(" 431 ");
    assertThat(answer("GET /v1/models?" + "y".repeat(100_000) + " HTTP/1.1\r\nhost: x\r\n\r\n"))
        .contains(" 414 ");
    assertThat(backend.bodies).isEmpty();
  }

  @Test
  void aHeadThatTricklesIsNotWaitedFor() throws Exception {
    isCut("GET /v1/models HTTP/1.1\r\nhost: x\r\nx: ", "");
  }

  @Test
  void aBodyThatTricklesIsNotWaitedFor() throws Exception {
    isCut(POST + "content-length: 1000000\r\n\r\n", " 408 ");
    isCut(POST + "transfer-encoding: chunked\r\n\r\nfffff\r\n", " 408 ");
    assertThat(backend.bodies).isEmpty();
    rig.untilIdle();
  }

  /** Writes a byte again and again until the other side has had enough. */
  private static void isCut(String begun, String answered) throws Exception {
    AtomicBoolean over = new AtomicBoolean();
    try (RawClient client = new RawClient(rig.router.port())) {
      client.write(begun);
      Thread trickle =
          new Thread(() -> {
            try {
              while (!over.get()) {
                client.write("y");
                java.util.concurrent.locks.LockSupport.parkNanos(5_000_000);
              }
            } catch (IOException e) {
              over.set(true); // it was cut
            }
          });
      trickle.start();
      assertThat(client.readToEnd()).contains(answered);
      over.set(true);
      trickle.join();
    }
  }

  @Test
  void jsonOfAnyDepthCostsNothing() throws Exception {
    for (String deep :
        new String[] {
          "[".repeat(10_000),
          "{\"model\":\"m\",\"messages\":" + "[".repeat(10_000) + "]".repeat(10_000) + "}",
          "{\"a\":".repeat(10_000) + "1" + "}".repeat(10_000)
        }) {
      assertThat(chat(deep)).contains(" 200 ");
      HttpRequest explain =
          HttpRequest.newBuilder(
                  java.net.URI.create(
                      "http://127.0.0.1:" + rig.router.adminPort() + "/admin/explain"))
              .POST(HttpRequest.BodyPublishers.ofString(deep))
              .build();
      assertThat(rig.send(explain).statusCode()).isEqualTo(400);
    }
    assertThat(backend.bodies).hasSize(3);
  }

  /** All that comes back until the router closes, which it does soon. */
  private static String answer(String sent) throws IOException {
    try (RawClient client = new RawClient(rig.router.port())) {
      try {
        client.write(sent);
      } catch (IOException e) {
        // closed before all was written
      }
      return client.readToEnd();
    }
  }
}
