package dev.warmpath.router.console;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.rig.EventFeed;
import dev.warmpath.router.rig.RawClient;
import dev.warmpath.router.rig.Rig;
import dev.warmpath.router.routing.Policies;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The last decisions and why they were made, over sockets. */
class DecisionsTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String SECRET = "unmistakable words of a client";
  private static final String USAGE =
      "{\"usage\":{\"prompt_tokens\":40,\"completion_tokens\":3,"
          + "\"prompt_tokens_details\":{\"cached_tokens\":16}}}";

  @Test
  void aDecisionHasWhatTheLogHas() throws Exception {
    try (Rig rig = rig(2, tree -> tree)) {
      complete(rig, SECRET);
      JsonNode kept = decisions(rig, "");
      assertThat(kept.path("kept").asInt()).isEqualTo(1);
      assertThat(kept.path("maxKept").asInt()).isEqualTo(1_000);
      JsonNode decision = kept.path("decisions").get(0);
      assertThat(decision.path("id").asLong()).isEqualTo(1);
      assertThat(decision.path("model").asText()).isEqualTo("m");
      assertThat(decision.path("path").asText()).isEqualTo("/v1/completions");
      assertThat(decision.path("engine").asText()).startsWith("r");
      assertThat(decision.path("policy").asText()).isEqualTo("warm");
      assertThat(decision.path("reason").asText()).isNotEmpty();
      assertThat(decision.path("promptTokens").asInt()).isEqualTo(40);
      assertThat(decision.path("cachedTokens").asInt()).isEqualTo(16);
      assertThat(decision.path("predictedCachedTokens").isNull()).isTrue();
      assertThat(decision.path("overTokens").asInt(-1)).isZero();
      assertThat(decision.path("ttftMs").isNull()).isTrue();
      assertThat(decision.path("totalMs").asDouble()).isPositive();
      assertThat(decision.path("outcome").asText()).isEqualTo("completed");
      assertThat(decision.path("status").asInt()).isEqualTo(200);
      assertThat(decision.path("attempts").asInt()).isEqualTo(1);
      assertThat(rig.metrics())
          .containsEntry("warmpath_console_decisions", 1.0)
          .containsEntry("warmpath_console_decisions_limit", 1_000.0);
    }
  }

  @Test
  void theyAreFilteredAndPaged() throws Exception {
    try (Rig rig = rig(2, tree -> tree.set("policy.name", "round-robin", "test"))) {
      for (int i = 0; i < 6; i++) {
        complete(rig, "hello");
      }
      rig.chat("{\"model\":\"unknown\"}");
      rig.untilIdle();
      assertThat(ids(rig, "")).containsExactly(7L, 6L, 5L, 4L, 3L, 2L, 1L);
      assertThat(ids(rig, "?limit=2&before=5")).containsExactly(4L, 3L);
      assertThat(ids(rig, "?replica=r0")).hasSize(3);
      assertThat(ids(rig, "?replica=r0&limit=1")).hasSize(1);
      assertThat(ids(rig, "?over=true")).isEmpty();
      assertThat(ids(rig, "?reason=nothing")).isEmpty();
      String reason = decisions(rig, "?limit=2").path("decisions").get(1).path("reason").asText();
      assertThat(ids(rig, "?reason=" + reason)).hasSize(6);
      JsonNode refused = decisions(rig, "").path("decisions").get(0);
      assertThat(refused.path("engine").isNull()).isTrue();
      assertThat(refused.path("code").asText()).isEqualTo("model_not_found");
      for (String wrong : List.of("limit=0", "limit=1001", "limit=x", "before=-1", "before=x")) {
        assertThat(rig.admin("/admin/decisions?" + wrong).statusCode()).as(wrong).isEqualTo(400);
      }
      for (String unknown : List.of("/x/explain", "/99/explain", "/1", "/1/other")) {
        assertThat(rig.admin("/admin/decisions" + unknown).statusCode()).as(unknown).isEqualTo(404);
      }
    }
  }

  @Test
  void noneAreKeptWithZero() throws Exception {
    try (Rig rig = rig(1, tree -> tree.set("admin.decisions-kept", 0, "test"))) {
      complete(rig, "hello");
      assertThat(decisions(rig, "").path("decisions")).isEmpty();
    }
  }

  @Test
  void aDecisionIsExplainedByWhatIsHeldNow() throws Exception {
    try (EventFeed feed = new EventFeed();
        Rig rig = rig(2, tree -> tree)) {
      assertThat(addWithEvents(rig, feed)).isEqualTo(200);
      int[] prompt = IntStream.range(100, 100 + 40).toArray();
      completeTokens(rig, prompt);
      JsonNode before = explain(rig, 1);
      assertThat(before.path("blocks").get(0).path("holders")).isEmpty();
      JsonNode then = before.path("enginesThen");
      assertThat(then).hasSize(3);
      assertThat(then.get(0).path("engine")).isEqualTo(before.path("decision").path("engine"));
      assertThat(then.get(0).path("terms")).isNotEmpty();
      Rig.until(() -> {
        feed.stored(Arrays.copyOf(prompt, 16));
        return explain(rig, 1).path("blocks").get(0).path("holders").size() == 1;
      });
      JsonNode after = explain(rig, 1);
      assertThat(after.path("enginesThen")).as("the moment's stay").isEqualTo(then);
      assertThat(after.path("runnerUp").asText())
          .isNotEmpty()
          .isNotEqualTo(after.path("winner").asText());
      assertThat(after.path("engines").get(2).path("engine").asText()).isEqualTo("told");
      assertThat(after.path("engines").get(2).path("matchedTokens").asInt()).isEqualTo(16);
      assertThat(after.path("prompt").path("tokens").asInt()).isEqualTo(40);
      assertThat(after.path("decision").path("id").asInt()).isEqualTo(1);
      assertThat(texts(after, "tokens")).containsExactly("16", "16", "8");
      assertThat(after.path("blocks").get(0).path("holders").get(0).asText()).isEqualTo("told");
      assertThat(after.path("blocks").get(1).path("holders")).isEmpty();
      assertThat(after.path("blocksLeftOut").asInt(-1)).isZero();
      assertThat(texts(after, "text")).containsOnly("null");
    }
  }

  @Test
  void otherPoliciesAreAskedToo() throws Exception {
    try (Rig rig = rig(2, tree -> tree)) {
      complete(rig, "hello");
      JsonNode answer = json(rig, "/admin/decisions/1/explain?policies=all");
      Map<String, JsonNode> others =
          answer
              .path("otherPolicies")
              .valueStream()
              .collect(Collectors.toMap(other -> other.path("policy").asText(), other -> other));
      assertThat(others.keySet()).containsExactlyInAnyOrderElementsOf(Policies.names());
      assertThat(others.values()).allMatch(other -> other.path("winner").asText().startsWith("r"));
      assertThat(others.get("random").path("note").isNull()).isTrue();
      assertThat(others.get("sticky").path("note").asText()).contains("without");
      assertThat(explain(rig, 1).has("otherPolicies")).isFalse();
    }
  }

  @Test
  void aPastedRequestIsShownAsText() throws Exception {
    try (Rig rig = rig(1, tree -> tree)) {
      String body = "{\"model\":\"m\",\"prompt\":\"" + SECRET.repeat(3) + "\"}";
      JsonNode plain = paste(rig, "", body);
      assertThat(plain.has("blocks")).isFalse();
      assertThat(plain.toString()).doesNotContain("unmistakable");
      JsonNode detailed = paste(rig, "?detail=tokens&policies=all", body);
      assertThat(String.join("", texts(detailed, "text"))).isEqualTo(SECRET.repeat(3));
      assertThat(detailed.path("otherPolicies").size()).isEqualTo(Policies.names().size());
    }
  }

  @Test
  void longPromptsAreCut() throws Exception {
    try (Rig rig = rig(1, tree -> tree)) {
      String ids =
          IntStream.range(0, 2_003 * 16)
              .mapToObj(i -> Integer.toString(100 + i % 100))
              .collect(Collectors.joining(","));
      JsonNode answer = paste(rig, "?detail=tokens", "{\"model\":\"m\",\"prompt\":[" + ids + "]}");
      assertThat(answer.path("blocks")).hasSize(2_000);
      assertThat(answer.path("blocksLeftOut").asInt()).isEqualTo(3);
    }
  }

  @Test
  void nothingShowsAPromptUnlessThatIsWanted() throws Exception {
    try (Rig rig = rig(1, tree -> tree)) {
      complete(rig, SECRET.repeat(4));
      for (String path :
          List.of(
              "/admin/decisions",
              "/admin/decisions/1/explain?policies=all",
              "/admin/prefixes",
              "/admin/console/history",
              "/admin/console/settings",
              "/admin/fleet",
              "/metrics")) {
        assertThat(new String(rig.admin(path).body(), UTF_8))
            .as(path)
            .isNotEmpty()
            .doesNotContain("unmistakable", "session-of");
      }
      assertThat(json(rig, "/admin/console/settings").path("showPrompts").asBoolean()).isFalse();
    }
    try (Rig rig = rig(1, tree -> tree.set("admin.show-prompts", true, "test"))) {
      String prompt = SECRET.repeat(4);
      complete(rig, prompt);
      assertThat(String.join("", texts(explain(rig, 1), "text"))).isEqualTo(prompt);
      assertThat(decisions(rig, "").toString()).doesNotContain("unmistakable");
      JsonNode prefix = json(rig, "/admin/prefixes").path("prefixes").get(0);
      assertThat(prompt).startsWith(prefix.path("firstWords").asText());
      assertThat(prefix.path("lastWords").asText()).isNotEmpty();
      assertThat(json(rig, "/admin/console/settings").path("showPrompts").asBoolean()).isTrue();
    }
  }

  @Test
  void hotPrefixesNameTheirHolders() throws Exception {
    try (EventFeed feed = new EventFeed();
        Rig rig = rig(1, tree -> tree)) {
      assertThat(addWithEvents(rig, feed)).isEqualTo(200);
      int[] prompt = IntStream.range(100, 100 + 40).toArray();
      Rig.until(() -> {
        feed.stored(Arrays.copyOf(prompt, 16));
        return json(rig, "/admin/fleet").findPath("heldBlocks").asInt() > 0;
      });
      rig.router.membership().drain("r0");
      completeTokens(rig, prompt);
      prompt[20] = 7;
      completeTokens(rig, prompt);
      JsonNode prefix = json(rig, "/admin/prefixes?limit=1").path("prefixes").get(0);
      assertThat(prefix.path("tokens").asInt()).isEqualTo(16);
      assertThat(prefix.path("requests").asInt()).isEqualTo(2);
      assertThat(prefix.path("tokensSaved").asInt()).isEqualTo(32);
      assertThat(prefix.path("engines").asInt()).isEqualTo(1);
      assertThat(prefix.path("holders").get(0).asText()).isEqualTo("told");
      assertThat(prefix.path("firstWords").isNull()).isTrue();
      assertThat(rig.metrics()).containsEntry("warmpath_console_prefixes", 1.0);
      assertThat(rig.admin("/admin/prefixes?limit=0").statusCode()).isEqualTo(400);
    }
  }

  @Test
  void newDecisionsComeWithTheStream() throws Exception {
    try (Rig rig = rig(1, tree -> tree);
        RawClient client = new RawClient(rig.router.adminPort())) {
      complete(rig, "before");
      client.write("GET /admin/console/live HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n");
      client.readUntil("event: now");
      complete(rig, "first");
      complete(rig, "second");
      String seen = client.readUntil("\"id\":3");
      assertThat(seen).contains("event: decision\ndata: [{\"id\":2,").doesNotContain("\"id\":1,");
    }
  }

  private static Rig rig(int replicas, UnaryOperator<ConfigTree> change) {
    Rig rig =
        new Rig(
            replicas,
            tree ->
                change.apply(
                    tree.set("policy.name", "warm", "test")
                        .put("models", Map.of("name", "m", "tokenizer", "embedded"), "test")));
    rig.backends.forEach(backend ->
        backend.script =
            (request, body) ->
                request.response().putHeader("content-type", "application/json").end(USAGE));
    return rig;
  }

  /**
   * Adds the replica "told", which is the first backend by another name of its host, with events.
   */
  private static int addWithEvents(Rig rig, EventFeed feed) throws Exception {
    String body =
        "{\"name\":\"told\",\"url\":\"%s\",\"events\":\"%s\",\"models\":[\"m\"]}"
            .formatted(
                rig.backends.get(0).url().replace("127.0.0.1", "localhost"), feed.endpoint());
    int status = rig.send(adminPost(rig, "/admin/replicas", body)).statusCode();
    Rig.until(() -> rig.up() == rig.backends.size() + 1);
    return status;
  }

  private static HttpRequest adminPost(Rig rig, String path, String body) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + rig.router.adminPort() + path))
        .POST(HttpRequest.BodyPublishers.ofString(body))
        .build();
  }

  private static void complete(Rig rig, String prompt) throws Exception {
    send(rig, "{\"model\":\"m\",\"prompt\":\"" + prompt + "\"}");
  }

  private static void completeTokens(Rig rig, int[] prompt) throws Exception {
    send(rig, "{\"model\":\"m\",\"prompt\":" + Arrays.toString(prompt) + "}");
  }

  private static void send(Rig rig, String body) throws Exception {
    HttpResponse<byte[]> answer =
        rig.send(
            rig.post("/v1/completions", body.getBytes(UTF_8))
                .header("x-session-id", "session-of-somebody")
                .build());
    assertThat(answer.statusCode()).isEqualTo(200);
    rig.untilIdle();
  }

  private static JsonNode paste(Rig rig, String query, String body) throws Exception {
    return JSON.readTree(rig.send(adminPost(rig, "/admin/explain" + query, body)).body());
  }

  private static JsonNode decisions(Rig rig, String query) {
    return json(rig, "/admin/decisions" + query);
  }

  private static List<Long> ids(Rig rig, String query) {
    List<Long> ids = new ArrayList<>();
    decisions(rig, query).path("decisions").forEach(each -> ids.add(each.path("id").asLong()));
    return ids;
  }

  private static JsonNode explain(Rig rig, long id) {
    return json(rig, "/admin/decisions/" + id + "/explain");
  }

  private static List<String> texts(JsonNode answer, String field) {
    List<String> texts = new ArrayList<>();
    answer.path("blocks").forEach(block -> texts.add(block.path(field).asText()));
    return texts;
  }

  private static JsonNode json(Rig rig, String path) {
    try {
      HttpResponse<byte[]> answer = rig.admin(path);
      assertThat(answer.statusCode()).as(path).isEqualTo(200);
      return JSON.readTree(answer.body());
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
