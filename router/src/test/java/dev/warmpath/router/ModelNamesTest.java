package dev.warmpath.router;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.rig.Rig;
import java.net.URI;
import java.net.http.HttpRequest;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Models under other names, adapters, and models with their own policy. */
class ModelNamesTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  @Test
  void anAliasIsReadAsItsModelAndGoesUpUnchanged() throws Exception {
    try (Rig rig = new Rig(1, ModelNamesTest::withModel)) {
      JsonNode answer = explain(rig, "other");
      assertThat(answer.path("model").asText()).isEqualTo("m");
      assertThat(answer.path("prompt").path("exact").asBoolean()).isTrue();
      String body = "{\"model\":\"other\",\"prompt\":\"hi\"}";
      assertThat(rig.send(rig.post("/v1/completions", body.getBytes(UTF_8)).build()).statusCode())
          .isEqualTo(200);
      assertThat(rig.backends.get(0).bodies.get(0).toString()).isEqualTo(body);
      assertThat(explain(rig, "nobody").path("winner").isNull()).isTrue();

      rig.write(tree -> tree.put("models", model(List.of("third")), "test"));
      rig.router.reload("test");
      assertThat(explain(rig, "third").path("model").asText()).isEqualTo("m");
      assertThat(explain(rig, "other").path("winner").isNull()).isTrue();
    }
  }

  @Test
  void aModelMayHaveItsOwnPolicy() throws Exception {
    try (Rig rig =
        new Rig(
            2,
            tree ->
                withModel(tree)
                    .put(
                        "models",
                        Map.of("name", "n", "tokenizer", "embedded", "policy", "sticky"),
                        "test"))) {
      String listed = "{\"data\":[{\"id\":\"m\"},{\"id\":\"n\"},{\"id\":\"fr\",\"parent\":\"n\"}]}";
      rig.backends.forEach(backend -> backend.models = listed);
      Rig.until(
          () -> rig.router.fleet().replicas().stream().allMatch(replica -> replica.serves("fr")));
      assertThat(explain(rig, "m").path("policy").asText()).isEqualTo("round-robin");
      assertThat(explain(rig, "other").path("policy").asText()).isEqualTo("round-robin");
      assertThat(explain(rig, "n").path("policy").asText()).isEqualTo("sticky");
      assertThat(explain(rig, "fr").path("policy").asText())
          .as("an adapter of n")
          .isEqualTo("sticky");

      rig.write(tree ->
          withModel(tree).put("models", Map.of("name", "n", "tokenizer", "embedded"), "test"));
      rig.router.reload("test");
      assertThat(explain(rig, "n").path("policy").asText()).isEqualTo("round-robin");
    }
  }

  @Test
  void anAdapterIsServedWhereItIsLoaded() throws Exception {
    try (Rig rig = new Rig(2, ModelNamesTest::withModel)) {
      rig.backends.get(1).models = "{\"data\":[{\"id\":\"m\"},{\"id\":\"fr\",\"parent\":\"m\"}]}";
      Rig.until(() -> rig.router.fleet().find("r1").orElseThrow().serves("fr"));
      for (int i = 0; i < 4; i++) {
        assertThat(rig.chat("{\"model\":\"fr\"}").headers().firstValue("x-warmpath-replica"))
            .contains("r1");
      }
      JsonNode passedOver = explain(rig, "fr").path("passedOver");
      assertThat(passedOver.path("r0").asText()).isEqualTo("unknown_model");
    }
  }

  private static ConfigTree withModel(ConfigTree tree) {
    return tree.put("models", model(List.of("other")), "test");
  }

  private static Map<String, Object> model(List<String> aliases) {
    return Map.of("name", "m", "tokenizer", "embedded", "aliases", aliases);
  }

  private static JsonNode explain(Rig rig, String model) throws Exception {
    URI uri = URI.create("http://127.0.0.1:" + rig.router.adminPort() + "/admin/explain");
    String body = "{\"model\":\"" + model + "\",\"prompt\":\"hi\"}";
    return JSON.readTree(
        rig.send(
                HttpRequest.newBuilder(uri)
                    .timeout(Rig.PATIENCE)
                    .POST(HttpRequest.BodyPublishers.ofString(body))
                    .build())
            .body());
  }
}
