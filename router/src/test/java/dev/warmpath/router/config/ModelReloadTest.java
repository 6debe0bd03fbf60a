package dev.warmpath.router.config;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.router.config.ConfigChanges.ConfigChange;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.members.Membership;
import dev.warmpath.router.rig.Backend;
import dev.warmpath.router.rig.EventFeed;
import dev.warmpath.router.rig.Load;
import dev.warmpath.router.rig.Rig;
import dev.warmpath.tokenizer.RequestKind;
import java.net.URI;
import java.net.http.HttpRequest;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Models that a reload adds, changes and removes. */
class ModelReloadTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int ROUNDS = 5;
  private static final String OF_M = chat("m");
  private static final String OF_N = chat("n");

  @Test
  void modelsComeAndGoUnderLoad() throws Exception {
    try (Rig rig = new Rig(1, ModelReloadTest::withM);
        Backend other = new Backend(rig.vertx())) {
      other.models = "{\"data\":[{\"id\":\"n\"}]}";
      Map<String, Object> engine = Map.of("name", "x", "url", other.url(), "models", List.of("n"));
      Load load = new Load(rig, 4, OF_M);
      try (load) {
        for (int i = 0; i < ROUNDS; i++) {
          Map<String, Object> model = Map.of("name", "n", "tokenizer", "embedded");
          rig.write(
              tree -> withM(tree).put("models", model, "test").put("replicas", engine, "test"));
          assertThat(rig.router.reload("test").applied())
              .extracting(ConfigChange::key)
              .containsExactly("models[n]", "replicas[x]");
          Rig.until(() -> rig.up() == 2 && isExact(rig, OF_N));
          long before = load.answered();
          assertThat(rig.chat(OF_N).headers().firstValue("x-warmpath-replica")).contains("x");
          Rig.until(() -> load.answered() > before + 20);

          rig.write(ModelReloadTest::withM);
          assertThat(rig.router.reload("test").needsRestart()).isEmpty();
          Rig.until(() -> rig.router.fleet().find("x").isEmpty());
          assertThat(rig.chat(OF_N).statusCode()).isEqualTo(404);
          assertThat(tokenizers(rig)).containsExactly("m");
        }
      }
      assertThat(load.failures()).isEmpty();
      assertThat(isExact(rig, OF_M)).isTrue();
      assertThat(rig.metrics()).doesNotContainKey("warmpath_fallbacks_total{cause=\"loading\"}");
    }
  }

  @Test
  void aChangedModelIsLoadedAnewAndOneThatCannotBeLoadedIsShown(@TempDir Path folder)
      throws Exception {
    try (Rig rig = new Rig(1)) {
      assertThat(isExact(rig, OF_M)).as("no model").isFalse();
      rig.write(ModelReloadTest::withM);
      rig.router.reload("test");
      Rig.until(() -> isExact(rig, OF_M));
      Map<String, Object> none = Map.of("name", "m", "tokenizer", folder.toString());
      rig.write(tree -> tree.put("models", none, "test"));
      assertThat(rig.router.reload("test").applied())
          .singleElement()
          .asString()
          .isEqualTo("models[m].tokenizer: embedded → " + folder);
      Rig.until(() -> report(rig).path("models").path(0).path("state").asText().equals("failed"));
      assertThat(rig.chat(OF_M).statusCode()).as("routed by load").isEqualTo(200);
      assertThat(isExact(rig, OF_M)).isFalse();
      rig.write(ModelReloadTest::withM);
      rig.router.reload("test");
      Rig.until(() -> isExact(rig, OF_M));
    }
  }

  /** The only model is that of every replica which names none, wherever it was found. */
  @Test
  void blocksGoByTheModelThatIsNowTheOnlyOne() throws Exception {
    try (Rig rig = new Rig(0, tree -> tree);
        Backend engine = new Backend(rig.vertx());
        EventFeed feed = new EventFeed()) {
      String keys = "{name: x, url: '" + engine.url() + "', events: '" + feed.endpoint() + "'}";
      rig.router.membership().put(Membership.ADMIN, ConfigTree.replica(keys, "test"));
      Rig.until(() -> blocksAreOf(rig, feed, ""));
      Replica known = rig.router.fleet().find("x").orElseThrow();
      rig.write(ModelReloadTest::withM);
      assertThat(rig.router.reload("test").problems()).isEmpty();
      assertThat(rig.router.fleet().find("x")).as("it stays up").containsSame(known);
      Rig.until(() -> blocksAreOf(rig, feed, "m"));
    }
  }

  private static boolean blocksAreOf(Rig rig, EventFeed feed, String model) {
    feed.stored(1);
    return rig.router.chains(RequestKind.CHAT, OF_M.getBytes(UTF_8)).stream()
        .map(engine -> engine.view().space())
        .anyMatch(space -> space != null && space.model().equals(model));
  }

  private static ConfigTree withM(ConfigTree tree) {
    return tree.put("models", Map.of("name", "m", "tokenizer", "embedded"), "test")
        .set("tokenizing.deadline-ms", 20_000, "test");
  }

  private static String chat(String model) {
    return "{\"model\":\"%s\",\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}"
        .formatted(model);
  }

  private static boolean isExact(Rig rig, String body) {
    URI uri = URI.create("http://127.0.0.1:" + rig.router.adminPort() + "/admin/explain");
    HttpRequest asked =
        HttpRequest.newBuilder(uri)
            .timeout(Rig.PATIENCE)
            .POST(HttpRequest.BodyPublishers.ofString(body, UTF_8))
            .build();
    try {
      return JSON.readTree(rig.send(asked).body()).path("prompt").path("exact").asBoolean();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private static List<String> tokenizers(Rig rig) {
    return report(rig).findValuesAsText("model");
  }

  private static JsonNode report(Rig rig) {
    try {
      return JSON.readTree(rig.admin("/admin/tokenizers").body());
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
