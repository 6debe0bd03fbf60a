package dev.warmpath.router.tokenize;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.rig.Backend;
import dev.warmpath.router.rig.Rig;
import dev.warmpath.tokenizer.ModelOptions;
import dev.warmpath.tokenizer.ModelTokenizer;
import dev.warmpath.tokenizer.PromptResult.Tokens;
import dev.warmpath.tokenizer.RequestKind;
import dev.warmpath.tokenizer.chat.ChatOptions;
import dev.warmpath.tokenizer.chat.ChatOptions.Harmony;
import dev.warmpath.tokenizer.files.EmbeddedFiles;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import java.net.URI;
import java.net.http.HttpRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

class ParityWatchTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final ModelTokenizer TOKENIZER = ModelTokenizer.embedded();
  private static final String CHAT =
      "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"one special text\"}]}";

  private static final String EFFORT =
      CHAT.replace("{\"model", "{\"reasoning_effort\":\"low\",\"model");

  @AfterAll
  static void close() {
    TOKENIZER.close();
  }

  /**
   * Cuts like us, but adds a token to the end of every request that {@code lies} picks, or of all
   * if it is the first to be asked and {@code liar} is 0.
   */
  private static final class Engine implements Backend.Script {
    private final AtomicInteger asked = new AtomicInteger();
    private final AtomicInteger rendered = new AtomicInteger();
    private volatile Predicate<String> lies;
    private final AtomicInteger liar = new AtomicInteger(-1);
    private volatile int status = 200;
    private volatile int renderStatus = 403;
    private volatile ModelTokenizer tokenizer = TOKENIZER;

    Engine(Predicate<String> lies) {
      this.lies = lies;
    }

    @Override
    public void answer(HttpServerRequest request, Buffer body) {
      boolean renders = request.path().endsWith("/render");
      if (renders && renderStatus != 200) {
        request.response().setStatusCode(renderStatus).end("{}");
        return;
      }
      if (!renders && !request.path().equals("/tokenize")) {
        request
            .response()
            .putHeader("content-type", "application/json")
            .end(
                "{\"usage\":{\"prompt_tokens\":3,"
                    + "\"prompt_tokens_details\":{\"cached_tokens\":0}}}");
        return;
      }
      asked.incrementAndGet();
      rendered.addAndGet(renders ? 1 : 0);
      liar.compareAndSet(0, request.localAddress().port());
      if (status == 200) {
        boolean lie = lies.test(body.toString()) || liar.get() == request.localAddress().port();
        request.response().end(tokens(body, lie, renders ? "token_ids" : "tokens"));
      } else if (status > 0) {
        request.response().setStatusCode(status).end("{}");
      }
    }

    private String tokens(Buffer body, boolean lie, String field) {
      ObjectNode read = read(body.toString());
      RequestKind kind = read.has("messages") ? RequestKind.CHAT : RequestKind.COMPLETION;
      Tokens tokens = (Tokens) tokenizer.prompt(kind, read, null);
      ObjectNode answer = JSON.createObjectNode();
      ArrayNode ids = answer.putArray(field);
      for (int id : tokens.sequences().get(0)) {
        ids.add(id);
      }
      if (lie) {
        ids.add(7);
      }
      return answer.toString();
    }
  }

  @Test
  void anEngineThatAgreesIsProbedOnceAndAgainInItsNextLife() throws Exception {
    Engine engine = new Engine(body -> false);
    try (Rig rig = rig(1, engine, tree -> tree.set("health.metrics-interval-ms", 20, "test"))) {
      Rig.until(() -> checks(rig, "equal") == 14);
      assertThat(model(rig).path("quarantined").asBoolean()).isFalse();
      assertThat(model(rig).path("lastDifference").isNull()).isTrue();
      rig.backends.get(0).metrics = "process_start_time_seconds 1.8e9\n";
      Rig.until(() -> checks(rig, "equal") == 28);
      assertThat(engine.asked).hasValue(28);
      assertThat(scrape(rig))
          .contains(
              "warmpath_parity_checks_total{model=\"m\",result=\"equal\"} 28.0",
              "warmpath_tokenizer_quarantined{model=\"m\"} 0.0");
    }
  }

  @Test
  void anEngineThatDiffersByATokenPutsTheModelIntoQuarantine() throws Exception {
    Engine engine = new Engine(body -> body.contains("messages"));
    try (Rig rig = rig(1, engine, tree -> tree)) {
      Rig.until(() -> model(rig).path("quarantined").asBoolean());
      assertThat(checks(rig, "different")).isEqualTo(1);
      assertThat(checks(rig, "equal")).isEqualTo(8);
      JsonNode difference = model(rig).path("lastDifference");
      int index = difference.path("index").asInt();
      assertThat(difference.path("where").asText()).isEqualTo("probe");
      assertThat(difference.path("replica").asText()).isEqualTo("r0");
      assertThat(difference.path("tokens").asInt()).isEqualTo(index);
      assertThat(difference.path("engineTokens").asInt()).isEqualTo(index + 1);
      assertThat(difference.path("around")).hasSize(5);
      assertThat(difference.path("engineAround")).hasSize(6);
      assertThat(difference.path("engineAround").get(5).path("id").asInt()).isEqualTo(7);
      assertThat(rig.chat(CHAT).statusCode()).isEqualTo(200);
      assertThat(scrape(rig))
          .contains(
              "warmpath_fallbacks_total{cause=\"quarantined\"} 1.0",
              "warmpath_tokenizer_quarantined{model=\"m\"} 1.0");
      assertThat(scrape(rig)).doesNotContain("prompt_miscounts");
    }
  }

  @Test
  void releasedItIsProbedAnewAndGoesBackIfItStillDiffers() throws Exception {
    Engine engine = new Engine(body -> true);
    try (Rig rig = rig(1, engine, tree -> tree)) {
      Rig.until(() -> model(rig).path("quarantined").asBoolean());
      assertThat(release(rig, "m")).isEqualTo("{\"model\":\"m\",\"released\":true}");
      Rig.until(() -> checks(rig, "different") == 2);
      Rig.until(() -> model(rig).path("quarantined").asBoolean());
      engine.lies = body -> false;
      release(rig, "m");
      Rig.until(() -> checks(rig, "equal") == 14);
      assertThat(model(rig).path("quarantined").asBoolean()).isFalse();
      assertThat(release(rig, "m")).isEqualTo("{\"model\":\"m\",\"released\":false}");
      assertThat(release(rig, "other/name")).contains("no tokenizer is configured");
    }
  }

  @Test
  void oneOfTwoEnginesThatDiffersIsShownAndStopsNothing() throws Exception {
    Engine engine = new Engine(body -> false);
    engine.liar.set(0);
    try (Rig rig = rig(2, engine, tree -> tree)) {
      Rig.until(() -> checks(rig, "unconfirmed") == 14);
      Rig.until(() -> checks(rig, "unconfirmed") + checks(rig, "equal") == 28);
      assertThat(model(rig).path("quarantined").asBoolean()).isFalse();
      assertThat(model(rig).path("lastDifference").path("replica").asText()).startsWith("r");
    }
  }

  @Test
  void anEngineThatCannotBeAskedIsAskedOnce() throws Exception {
    Engine engine = new Engine(body -> false);
    engine.status = 404;
    try (Rig rig = rig(1, engine, tree -> tree)) {
      Rig.until(() -> checks(rig, "unavailable") == 1);
      assertThat(engine.asked).hasValue(1);
      assertThat(rig.chat(CHAT).statusCode()).isEqualTo(200);
      assertThat(model(rig).path("quarantined").asBoolean()).isFalse();
    }
  }

  @Test
  void anEngineThatDoesNotAnswerHoldsUpNobody() throws Exception {
    Engine engine = new Engine(body -> false);
    engine.status = -1;
    try (Rig rig = rig(1, engine, tree -> tree.set("parity.timeout-ms", 50, "test"))) {
      assertThat(rig.chat(CHAT).statusCode()).isEqualTo(200);
      Rig.until(() -> checks(rig, "error") >= 1);
      assertThat(model(rig).path("quarantined").asBoolean()).isFalse();
      assertThat(scrape(rig)).doesNotContain("cause=\"quarantined\"");
    }
  }

  @Test
  void aMiscountIsLookedIntoAtOnce() throws Exception {
    Engine engine = new Engine(body -> body.contains("special"));
    try (Rig rig = rig(1, engine, tree -> tree)) {
      Rig.until(() -> checks(rig, "equal") == 14);
      rig.chat(CHAT.replace("special", "usual"));
      Rig.until(() -> checks(rig, "equal") == 15);
      assertThat(model(rig).path("quarantined").asBoolean()).isFalse();
      rig.chat(CHAT);
      Rig.until(() -> model(rig).path("quarantined").asBoolean());
      assertThat(model(rig).path("lastDifference").path("where").asText()).isEqualTo("miscount");
      assertThat(scrape(rig)).contains("warmpath_parity_bodies_share 0.0");
    }
  }

  @Test
  void whatTokenizeWouldCutOtherwiseIsRendered() throws Exception {
    Engine engine = new Engine(body -> false);
    engine.renderStatus = 200;
    try (Rig rig = rig(1, engine, tree -> tree)) {
      Rig.until(() -> checks(rig, "equal") == 14);
      rig.chat(EFFORT);
      Rig.until(() -> checks(rig, "equal") == 15);
      assertThat(engine.rendered).hasValue(1);
      engine.lies = body -> true;
      rig.chat(EFFORT);
      Rig.until(() -> model(rig).path("quarantined").asBoolean());
    }
  }

  @Test
  void whatNobodyWouldCutAsServedIsUnknown() throws Exception {
    Engine engine = new Engine(body -> false);
    try (Rig rig = rig(1, engine, tree -> tree)) {
      Rig.until(() -> checks(rig, "equal") == 14);
      rig.chat(EFFORT);
      Rig.until(() -> checks(rig, "unknown") == 1);
      engine.renderStatus = 200;
      rig.chat(EFFORT);
      Rig.until(() -> checks(rig, "unknown") == 2);
      assertThat(engine.rendered).as("it is not asked again in this life").hasValue(0);
    }
  }

  @Test
  void gptOssIsComparedByTheRenderRouteAlone(@TempDir Path folder) throws Exception {
    ObjectNode file = (ObjectNode) JSON.readTree(EmbeddedFiles.read().tokenizer().json());
    ArrayNode added = file.putArray("added_tokens");
    Map.of(
            "channel", 200_005, "start", 200_006, "end", 200_007, "message", 200_008, "call",
            200_012)
        .forEach((name, id) -> addToken(added, name, id));
    Files.writeString(folder.resolve("tokenizer.json"), file.toString());
    Files.writeString(folder.resolve("config.json"), "{\"model_type\":\"gpt_oss\"}");
    ChatOptions pinned = ChatOptions.defaults().with(new Harmony("noon", false));
    Engine engine = new Engine(body -> false);
    engine.renderStatus = 200;
    Map<String, String> model =
        Map.of("name", "m", "tokenizer", folder.toString(), "start-date", "noon");
    engine.tokenizer = ModelTokenizer.load(folder, new ModelOptions(pinned, ModelOptions.UNKNOWN));
    try (Rig rig = rig(1, engine, tree -> tree.put("models", model, "test"))) {
      Rig.until(() -> checks(rig, "equal") == 14);
      assertThat(engine.rendered).hasValue(6);
      assertThat(engine.asked).hasValue(14);
      engine.lies = body -> true;
      rig.chat(CHAT);
      Rig.until(() -> model(rig).path("quarantined").asBoolean());
    } finally {
      engine.tokenizer.close();
    }
  }

  private static void addToken(ArrayNode added, String name, int id) {
    ObjectNode token = added.addObject().put("id", id).put("content", "<|" + name + "|>");
    for (String flag : List.of("single_word", "lstrip", "rstrip", "normalized")) {
      token.put(flag, false);
    }
    token.put("special", true);
  }

  @Test
  void samplesGoOnInQuarantineAndEndItWhenTheyAreEqual() throws Exception {
    Engine engine = new Engine(body -> true);
    try (Rig rig = rig(1, engine, tree -> tree.set("parity.sample-interval-ms", 1, "test"))) {
      Rig.until(() -> model(rig).path("quarantined").asBoolean());
      engine.lies = body -> false;
      Rig.until(() -> {
        chat(rig);
        return !model(rig).path("quarantined").asBoolean();
      });
      assertThat(checks(rig, "equal")).isGreaterThanOrEqualTo(20);
    }
  }

  /** Nor is it an error of ours: what cannot be read was never compared. */
  @Test
  void whatIsNoRequestIsNoSample() throws Exception {
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    Logger log = (Logger) LoggerFactory.getLogger(ParityWatch.class);
    lines.start();
    log.addAppender(lines);
    try (Rig rig =
        rig(
            1,
            new Engine(body -> false),
            tree -> tree.set("parity.sample-interval-ms", 1, "test"))) {
      Rig.until(() -> equalProbes(rig, "m") == 14);
      for (String body : List.of("{\"model\":", "[]", "7", "\u001f\u008b", "")) {
        send(rig, rig.post("/v1/chat/completions", body.getBytes(UTF_8)));
      }
      Rig.until(() -> {
        chat(rig);
        return equalProbes(rig, "m") > 14;
      });
    } finally {
      log.detachAppender(lines);
    }
    assertThat(lines.list).noneMatch(line -> line.getLevel() == Level.ERROR);
  }

  @Test
  void modelsThatAReloadAddsOrChangesAreProbed() throws Exception {
    try (Rig rig = rig(1, new Engine(body -> false), tree -> tree)) {
      rig.backends.get(0).models = "{\"data\":[{\"id\":\"m\"},{\"id\":\"n\"}]}";
      reload(rig, tree -> tree.put("models", n("UTC"), "test"));
      Rig.until(() -> equalProbes(rig, "n") == 14);
      reload(rig, tree -> tree.put("models", n("Europe/Berlin"), "test"));
      Rig.until(() -> equalProbes(rig, "n") == 28);
      reload(rig, tree -> tree);
      assertThat(scrape(rig)).doesNotContain("model=\"n\"");
      assertThat(equalProbes(rig, "m")).isEqualTo(14);
    }
  }

  private static Map<String, Object> n(String zone) {
    return Map.of("name", "n", "tokenizer", "embedded", "time-zone", zone);
  }

  private static void reload(Rig rig, UnaryOperator<ConfigTree> change) {
    rig.write(change);
    assertThat(rig.router.reload("test").needsRestart()).isEmpty();
  }

  private static double equalProbes(Rig rig, String model) {
    String name = "warmpath_parity_checks_total{model=\"%s\",result=\"equal\"}".formatted(model);
    return rig.metrics().getOrDefault(name, 0.0);
  }

  private static Rig rig(int replicas, Engine engine, UnaryOperator<ConfigTree> change) {
    return new Rig(
        replicas,
        tree ->
            change.apply(
                tree.set("parity.enabled", true, "test")
                    .set("parity.sample-interval-ms", 0, "test")
                    .put("models", Map.of("name", "m", "tokenizer", "embedded"), "test")),
        replicas,
        engine);
  }

  private static long checks(Rig rig, String result) {
    return model(rig).path("checks").path(result).asLong();
  }

  private static JsonNode model(Rig rig) {
    return read(send(rig, HttpRequest.newBuilder(admin(rig, "/admin/tokenizers"))))
        .path("models")
        .get(0);
  }

  private static String release(Rig rig, String model) {
    return send(
        rig,
        HttpRequest.newBuilder(admin(rig, "/admin/tokenizers/" + model + "/release"))
            .POST(HttpRequest.BodyPublishers.noBody()));
  }

  private static void chat(Rig rig) {
    send(rig, rig.post("/v1/chat/completions", CHAT.getBytes(UTF_8)));
  }

  private static String scrape(Rig rig) {
    return send(
        rig,
        HttpRequest.newBuilder(
            URI.create("http://127.0.0.1:" + rig.router.adminPort() + "/metrics")));
  }

  private static URI admin(Rig rig, String path) {
    return URI.create("http://127.0.0.1:" + rig.router.adminPort() + path);
  }

  private static String send(Rig rig, HttpRequest.Builder request) {
    try {
      return new String(rig.send(request.build()).body(), UTF_8);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private static ObjectNode read(String json) {
    try {
      return (ObjectNode) JSON.readTree(json);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
