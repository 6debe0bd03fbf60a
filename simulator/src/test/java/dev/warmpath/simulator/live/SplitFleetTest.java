package dev.warmpath.simulator.live;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.router.RouterProcess;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.doctor.DoctorReport;
import dev.warmpath.router.doctor.Finding;
import dev.warmpath.router.doctor.FleetProbe;
import dev.warmpath.router.fleet.EngineReport;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.simulator.TestRouters;
import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.KvCacheConfig;
import dev.warmpath.simulator.engine.StepCost;
import dev.warmpath.simulator.live.KvTransferOptions.LoadFailure;
import dev.warmpath.simulator.live.KvTransferOptions.Role;
import dev.warmpath.tokenizer.ModelTokenizer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A router before two engines that compute prompts and two that answer, over real sockets. */
@Timeout(180)
class SplitFleetTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String EXPIRED =
      "(?:warmpath_sim_kv_expired|vllm:nixl_num_kv_expired_reqs)_total";
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static ModelTokenizer tokenizer;
  private static LiveEngines launcher;

  private final List<LiveEngine> engines = new ArrayList<>();
  private RouterProcess router;
  private RouterConfig config;

  @BeforeAll
  static void load() {
    tokenizer = ModelTokenizer.embedded();
    launcher = new LiveEngines(tokenizer);
  }

  @AfterAll
  static void unload() {
    launcher.close();
    tokenizer.close();
  }

  @AfterEach
  void stop() {
    if (router != null) {
      router.close();
    }
    engines.forEach(LiveEngine::close);
  }

  private LiveEngine engine(KvTransferOptions transfer, double speed) {
    EngineConfig config =
        new EngineConfig(
            KvCacheConfig.fullAttention(16, 1_000), 2048, 16, 4096, new StepCost(1, 0.01, 0, 0));
    LiveEngine engine =
        launcher.start(LiveEngineOptions.of("sim", config).pace(speed, 32).with(transfer));
    engines.add(engine);
    return engine;
  }

  /** p0, p1, d0, d1, and a router that splits all it can. */
  private void start(KvConnector connector, LoadFailure onFailure, double speed) throws Exception {
    ConfigTree tree =
        TestRouters.patientWithModel()
            .set("policy.split", "always", "test")
            .set("parity.enabled", false, "test") // an SGLang renders tools otherwise
            .set("retry.backoff-ms", 1, "test");
    for (int i = 0; i < 4; i++) {
      Role role = i < 2 ? Role.PREFILL : Role.DECODE;
      LiveEngine engine = engine(KvTransferOptions.of(connector, role).with(3, onFailure), speed);
      Map<String, Object> replica = new LinkedHashMap<>();
      replica.put("name", (i < 2 ? "p" : "d") + i % 2);
      replica.put("url", engine.url());
      if (connector == KvConnector.SGLANG) {
        replica.put("dialect", "sglang"); // such engines say the rest themselves
      } else {
        replica.put("role", role.name().toLowerCase(Locale.ROOT));
        replica.put("kv-connector", connector.name().toLowerCase(Locale.ROOT).replace('_', '-'));
        replica.put("kv-port", (long) engine.ports().http());
        replica.put("events", engine.eventsEndpoint());
        replica.put("replay", engine.replayEndpoint());
      }
      tree = tree.put("replicas", replica, "test");
    }
    config = tree.config();
    router = RouterProcess.start(config);
    until(() ->
        router.fleet().replicas().stream()
            .allMatch(replica -> replica.health() == Replica.Health.UP));
    if (connector != KvConnector.SGLANG) {
      until(() ->
          router.dispatcher().report().stream()
              .allMatch(report -> report.view().trust() == Trust.EXACT));
    }
  }

  private interface Condition {
    boolean holds() throws Exception;
  }

  private static void until(Condition condition) throws Exception {
    while (!condition.holds()) {
      LockSupport.parkNanos(5_000_000);
    }
  }

  /** Has begun to compute, or is through with it. */
  private static void untilAtWork(LiveEngine engine) throws Exception {
    until(() ->
        metric(engine.url(), "vllm:num_requests_running") > 0
            || metric(engine.url(), "vllm:generation_tokens_total") > 0);
  }

  private static String text(int chat) {
    return ("The path of chat " + chat + " is warm. ").repeat(8 + chat % 5);
  }

  private static ObjectNode request(int chat, boolean isChat, boolean streamed) {
    ObjectNode body = JSON.createObjectNode().put("model", "sim").put("max_tokens", 9);
    body.put("ignore_eos", true);
    if (isChat) {
      body.putArray("messages").addObject().put("role", "user").put("content", text(chat));
    } else {
      body.put("prompt", text(chat));
    }
    return streamed ? body.put("stream", true) : body;
  }

  private static CompletableFuture<HttpResponse<String>> post(
      String url, boolean isChat, ObjectNode body) {
    URI uri = URI.create(url + (isChat ? "/v1/chat/completions" : "/v1/completions"));
    HttpRequest request =
        HttpRequest.newBuilder(uri)
            .header("content-type", "application/json")
            .POST(BodyPublishers.ofString(body.toString()))
            .build();
    return HTTP.sendAsync(request, BodyHandlers.ofString());
  }

  private CompletableFuture<HttpResponse<String>> ask(int chat) {
    boolean isChat = chat % 2 == 0;
    return post(url(), isChat, request(chat, isChat, chat % 4 > 1));
  }

  private String url() {
    return "http://127.0.0.1:" + router.port();
  }

  /** What an answer of any form says. */
  private static String said(HttpResponse<String> response) {
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    StringBuilder said = new StringBuilder();
    try {
      if (!response.headers().firstValue("content-type").orElse("").startsWith("text/event")) {
        return said(JSON.readTree(response.body()));
      }
      assertThat(response.body()).endsWith("data: [DONE]\n\n");
      for (String event : response.body().split("\n\n")) {
        if (!event.contains("[DONE]")) {
          said.append(said(JSON.readTree(event.substring("data: ".length()))));
        }
      }
    } catch (java.io.IOException e) {
      throw new AssertionError(response.body(), e);
    }
    return said.toString();
  }

  private static String said(JsonNode document) {
    assertThat(document.has("error")).as(document.toString()).isFalse();
    JsonNode choice = document.path("choices").path(0);
    return choice.path("text").asText("")
        + choice.path("message").path("content").asText("")
        + choice.path("delta").path("content").asText("");
  }

  /** The figures whose names and labels begin so. */
  private static List<Double> figures(String url, String beginning) throws Exception {
    HttpRequest request = HttpRequest.newBuilder(URI.create(url + "/metrics")).build();
    String page = HTTP.send(request, BodyHandlers.ofString()).body();
    return Pattern.compile("(?m)^" + beginning + "\\S* (\\S+)$")
        .matcher(page)
        .results()
        .map(found -> Double.valueOf(found.group(1)))
        .toList();
  }

  /** Their sum; 0 if there are none. */
  private static double metric(String url, String beginning) throws Exception {
    return figures(url, beginning).stream().mapToDouble(Double::doubleValue).sum();
  }

  private double routed(String beginning) throws Exception {
    return metric(adminUrl(), beginning);
  }

  private String adminUrl() {
    return "http://127.0.0.1:" + router.adminPort();
  }

  private double ofAll(List<LiveEngine> some, String beginning) throws Exception {
    double sum = 0;
    for (LiveEngine engine : some) {
      sum += metric(engine.url(), beginning);
    }
    return sum;
  }

  /** Nothing is held for anybody, at the router or at an engine. */
  private void assertNothingIsHeld(List<LiveEngine> living) throws Exception {
    until(() -> router.dispatcher().report().stream().allMatch(SplitFleetTest::isIdle));
    until(() -> ofAll(living, "vllm:kv_cache_usage_perc") == 0);
    assertThat(router.serving()).isZero();
  }

  private static boolean isIdle(EngineReport report) {
    return report.state().load().requestsInFlight() == 0;
  }

  @ParameterizedTest
  @EnumSource(names = "NONE", mode = EnumSource.Mode.EXCLUDE)
  void chatsAndCompletionsComeAsFromOneEngine(KvConnector connector) throws Exception {
    start(connector, LoadFailure.FAIL, 1);
    LiveEngine alone = engine(KvTransferOptions.NONE, 1);
    int chats = 24;
    List<CompletableFuture<HttpResponse<String>>> answers =
        IntStream.range(0, chats).mapToObj(this::ask).toList();
    for (int chat = 0; chat < chats; chat++) {
      boolean isChat = chat % 2 == 0;
      String expected = said(post(alone.url(), isChat, request(chat, isChat, false)).join());
      assertThat(said(answers.get(chat).join())).as("chat " + chat).isEqualTo(expected);
      assertThat(answers.get(chat).join().body()).doesNotContain("remote_host", "ctx_request_id");
    }
    assertThat(routed("warmpath_split_requests_total\\{result=\"handed_over\"}")).isEqualTo(chats);
    assertNothingIsHeld(engines.subList(0, 4));
    List<LiveEngine> prefills = engines.subList(0, 2);
    assertThat(ofAll(prefills, "warmpath_sim_kv_reused_total")).isZero();
    for (LiveEngine prefill : prefills) {
      assertThat(figures(prefill.url(), EXPIRED)).containsExactly(0.0);
      assertThat(metric(prefill.url(), "vllm:prompt_tokens_by_source_total")).isPositive();
    }
    assertThat(routed("warmpath_predictions_total\\{engine=\"p0\",result=\"over\"}")).isZero();
    assertThat(routed("warmpath_predictions_total\\{engine=\"p1\",result=\"over\"}")).isZero();
  }

  @ParameterizedTest
  @EnumSource(names = "NONE", mode = EnumSource.Mode.EXCLUDE)
  void theDoctorSeesThatItComesOver(KvConnector connector) throws Exception {
    start(connector, LoadFailure.FAIL, 1);
    List<Finding> found = transfers(config);
    assertThat(found).extracting(Finding::level).containsOnly(Finding.Level.OK);
    assertThat(found).extracting(Finding::subject).containsExactlyInAnyOrder("d0", "d1");
    for (Finding finding : found) {
      assertThat(finding.found()).matches("(\\d+) of \\1 prompt tokens came from p[01] by .*");
    }
    assertThat(found.toString()).contains("p0", "p1");
  }

  /** An engine without a connector computes all without a word. */
  @Test
  void theDoctorSeesWhatIsComputedTwice() throws Exception {
    KvTransferOptions prefill = KvTransferOptions.of(KvConnector.NIXL, Role.PREFILL);
    List<Finding> found =
        transfers(pair(prefill, KvTransferOptions.NONE, "nixl", "prefill", "decode"));
    assertThat(found).hasSize(1);
    assertThat(found.get(0).level()).isEqualTo(Finding.Level.FAIL);
    assertThat(found.get(0).found()).contains("computed at p", "computed here again");
  }

  @Test
  void theDoctorSeesRolesThatAreNone() throws Exception {
    KvTransferOptions decode = KvTransferOptions.of(KvConnector.SGLANG, Role.DECODE);
    List<Finding> found = transfers(pair(decode, decode, "sglang", "prefill", "prefill"));
    String word = ": its --disaggregation-mode is decode, its `role` here is prefill: ";
    String nobody = ": no replica computes prompts for it: it serves nobody";
    assertThat(found)
        .extracting(finding -> finding.level() + " " + finding.subject() + ": " + finding.found())
        .containsExactlyInAnyOrder(
            "WARN p" + word + "the router goes by its own word",
            "WARN d" + word + "the router goes by its own word",
            "FAIL p" + nobody,
            "FAIL d" + nobody);
  }

  private RouterConfig pair(
      KvTransferOptions prefill, KvTransferOptions decode, String connector, String... roles)
      throws Exception {
    ConfigTree tree =
        ConfigTree.empty()
            .set("parity.timeout-ms", 20_000, "test")
            .set("timeouts.connect-ms", 20_000, "test")
            .put("models", Map.of("name", "sim", "tokenizer", "embedded"), "test");
    for (int i = 0; i < 2; i++) {
      Map<String, Object> replica = new LinkedHashMap<>();
      replica.put("name", i == 0 ? "p" : "d");
      replica.put("url", engine(i == 0 ? prefill : decode, 1).url());
      replica.put("role", roles[i]);
      replica.put("kv-connector", connector);
      replica.put("dialect", connector.equals("sglang") ? "sglang" : "vllm");
      tree = tree.put("replicas", replica, "test");
    }
    return tree.config();
  }

  private static List<Finding> transfers(RouterConfig of) throws InterruptedException {
    FleetProbe.Options options = new FleetProbe.Options(true, Duration.ofSeconds(2));
    return DoctorReport.of(of, options).findings().stream()
        .filter(finding -> finding.check().equals("transfers"))
        .toList();
  }

  /** Turn after turn: what both have is neither computed nor fetched again. */
  @Test
  void theNextTurnFindsBothCachesWarm() throws Exception {
    start(KvConnector.NIXL, LoadFailure.FAIL, 1);
    said(ask(1).join());
    double before = moved();
    assertThat(before).isGreaterThan(50);
    for (String role : List.of("p", "d")) {
      until(() -> routed("warmpath_index_blocks\\{engine=\"" + role + "\\S*held") > 0);
    }
    said(ask(1).join());
    assertThat(moved() - before).as("tokens of the last, partial block").isBetween(1.0, 16.0);
    assertThat(routed("warmpath_split_requests_total\\{result=\"handed_over\"}")).isEqualTo(2);
    double computed = routed("warmpath_split_tokens_total\\{kind=\"computed\"}");
    double cached = routed("warmpath_split_tokens_total\\{kind=\"cached\"}");
    assertThat(cached).isPositive();
    assertThat(routed("warmpath_split_tokens_total\\{kind=\"received\"}")).isEqualTo(moved());
    assertThat(computed + cached).isEqualTo(2 * before);
    until(() -> routed("warmpath_replica_received_tokens_total") == moved());
    String expired = "warmpath_replica_expired_transfers_total\\{replica=\"p";
    until(() -> figures(adminUrl(), expired).size() == 2);
    assertThat(figures(adminUrl(), expired)).containsOnly(0.0);
    assertThat(
            routed("warmpath_predictions_total\\{engine=\"p0\",result=\"exact\"}")
                + routed("warmpath_predictions_total\\{engine=\"p1\",result=\"exact\"}"))
        .isEqualTo(2);
    assertNothingIsHeld(engines);
  }

  @Test
  void whatOneDecodeNeedsIsTold() throws Exception {
    start(KvConnector.NIXL, LoadFailure.FAIL, 1);
    for (int chat = 0; chat < 50; chat++) {
      said(ask(chat).join());
    }
    assertThat(routed("warmpath_advised_prefill_ratio\\{model=\"sim\"}")).isPositive();
  }

  @ParameterizedTest
  @EnumSource(names = {"NIXL", "SGLANG"})
  void explainWeighsTwoEnginesAgainstOne(KvConnector connector) throws Exception {
    start(connector, LoadFailure.FAIL, 1);
    URI uri = URI.create(adminUrl() + "/admin/explain");
    HttpRequest request =
        HttpRequest.newBuilder(uri)
            .POST(BodyPublishers.ofString(request(3, false, true).toString()))
            .build();
    JsonNode told = JSON.readTree(HTTP.send(request, BodyHandlers.ofString()).body());
    JsonNode split = told.path("split");
    assertThat(split.path("prefill").asText()).startsWith("p");
    assertThat(split.path("decode").asText()).startsWith("d");
    assertThat(split.path("splits").asBoolean()).isTrue();
    assertThat(split.path("apartMs").asDouble()).isPositive();
    boolean isServedAlone = connector == KvConnector.NIXL;
    assertThat(split.path("aloneMs").isNumber()).isEqualTo(isServedAlone);
    assertThat(told.path("winner").asText()).startsWith("d");

    said(ask(1).join());
    until(() -> told("/admin/decisions?limit=1").path("decisions").size() == 1);
    JsonNode decision = told("/admin/decisions?limit=1").path("decisions").path(0);
    String why = "/admin/decisions/" + decision.path("id").asText() + "/explain";
    assertThat(told(why).path("split").path("prefill").asText()).startsWith("p");

    String several = request(3, false, true).put("n", 2).toString();
    HttpRequest whole = HttpRequest.newBuilder(uri).POST(BodyPublishers.ofString(several)).build();
    told = JSON.readTree(HTTP.send(whole, BodyHandlers.ofString()).body());
    assertThat(told.path("split").isMissingNode()).isTrue();
    assertThat(told.path("winner").isTextual()).isEqualTo(isServedAlone);
  }

  private JsonNode told(String adminPath) throws Exception {
    HttpRequest request = HttpRequest.newBuilder(URI.create(adminUrl() + adminPath)).build();
    return JSON.readTree(HTTP.send(request, BodyHandlers.ofString()).body());
  }

  /** Tokens that came from another engine. */
  private double moved() throws Exception {
    return ofAll(engines, "vllm:prompt_tokens_by_source_total\\S*external_kv_transfer");
  }

  @ParameterizedTest
  @EnumSource(names = {"NIXL", "MOONCAKE", "OFFLOADING", "TRTLLM"})
  void aPrefillThatDiesCostsNoAnswer(KvConnector connector) throws Exception {
    start(connector, LoadFailure.FAIL, 0.1);
    List<CompletableFuture<HttpResponse<String>>> answers =
        IntStream.range(0, 12).mapToObj(this::ask).toList();
    LiveEngine victim = engines.get(0);
    untilAtWork(victim);
    victim.kill();
    for (CompletableFuture<HttpResponse<String>> answer : answers) {
      assertThat(said(answer.join())).isNotBlank();
    }
    assertNothingIsHeld(engines.subList(1, 4));
  }

  /** A decode server of SGLang computes nothing: without the other prefill there is no answer. */
  @Test
  void aPrefillOfSglangThatDiesIsReplacedByTheOther() throws Exception {
    start(KvConnector.SGLANG, LoadFailure.FAIL, 0.1);
    List<CompletableFuture<HttpResponse<String>>> answers =
        IntStream.range(0, 8).mapToObj(this::ask).toList();
    LiveEngine victim = engines.get(0);
    untilAtWork(victim);
    victim.kill();
    for (CompletableFuture<HttpResponse<String>> answer : answers) {
      HttpResponse<String> got = answer.join();
      boolean isClear = got.body().contains("\"error\"");
      assertThat(isClear || !said(got).isBlank()).as(got.body()).isTrue();
    }
    assertNothingIsHeld(engines.subList(1, 4));
  }

  @ParameterizedTest
  @EnumSource(names = {"NIXL", "MOONCAKE", "OFFLOADING", "TRTLLM", "SGLANG"})
  void aDecodeThatDiesInTheMiddleIsAnErrorOrAnAnswer(KvConnector connector) throws Exception {
    start(connector, LoadFailure.FAIL, 0.1);
    List<CompletableFuture<HttpResponse<String>>> answers =
        IntStream.range(0, 12).mapToObj(this::ask).toList();
    LiveEngine victim = engines.get(2);
    untilAtWork(victim);
    victim.kill();
    int whole = 0;
    for (CompletableFuture<HttpResponse<String>> answer : answers) {
      HttpResponse<String> got = answer.handle((response, broken) -> response).join();
      boolean isWhole = got != null && got.statusCode() == 200 && !got.body().contains("error");
      whole += isWhole ? 1 : 0;
    }
    assertThat(whole).as("those at the other one, and those not begun").isPositive();
    assertNothingIsHeld(List.of(engines.get(0), engines.get(1), engines.get(3)));
  }
}
