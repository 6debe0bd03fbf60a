package dev.warmpath.router;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.rig.Backend;
import dev.warmpath.router.rig.EventFeed;
import dev.warmpath.router.rig.Rig;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Engines of one model that name their blocks by different schemes, as vLLM 0.33 with EAGLE does
 * with and without a KV connector, beside one before 0.33. Each is read by its own.
 */
class EngineSchemesTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  @Test
  void eachEngineIsReadByItsOwnScheme() throws Exception {
    Vertx vertx = Vertx.vertx();
    try (Backend engine = new Backend(vertx);
        EventFeed plain = new EventFeed();
        EventFeed ahead = new EventFeed();
        EventFeed eagle = new EventFeed();
        Rig rig =
            new Rig(
                0,
                tree ->
                    replica(
                        replica(
                            replica(
                                tree.put(
                                    "models", Map.of("name", "m", "tokenizer", "embedded"), "test"),
                                engine,
                                "plain",
                                plain,
                                "vllm"),
                            engine,
                            "ahead",
                            ahead,
                            "vllm"),
                        engine,
                        "eagle",
                        eagle,
                        "vllm-eagle"),
                3)) {
      int[] tokens = IntStream.range(100, 149).toArray();
      Rig.until(() -> {
        plain.stored(Arrays.copyOf(tokens, 48));
        ahead.stored(tokens, 1);
        eagle.stored(Arrays.copyOf(tokens, 48));
        return matched(rig, tokens).equals(Map.of("plain", 48, "ahead", 48, "eagle", 32));
      });
      int[] other = tokens.clone();
      other[48]++;
      assertThat(matched(rig, other))
          .as("another token behind the last block")
          .isEqualTo(Map.of("plain", 48, "ahead", 32, "eagle", 32));
    } finally {
      vertx.close().toCompletionStage().toCompletableFuture().join();
    }
  }

  private static ConfigTree replica(
      ConfigTree tree, Backend engine, String name, EventFeed feed, String dialect) {
    Map<String, Object> keys =
        Map.of(
            "name", name,
            "url", engine.url(),
            "models", List.of("m"),
            "events", feed.endpoint(),
            "dialect", dialect);
    return tree.put("replicas", keys, "test");
  }

  /** Tokens that the index shows, by engine. */
  private static Map<String, Integer> matched(Rig rig, int[] prompt) {
    String body = "{\"model\":\"m\",\"prompt\":" + Arrays.toString(prompt) + "}";
    URI uri =
        URI.create(
            "http://127.0.0.1:" + rig.router.adminPort() + "/admin/explain?path=/v1/completions");
    try {
      JsonNode answer =
          JSON.readTree(
              rig.send(
                      HttpRequest.newBuilder(uri)
                          .POST(HttpRequest.BodyPublishers.ofByteArray(body.getBytes(UTF_8)))
                          .build())
                  .body());
      Map<String, Integer> tokens = new TreeMap<>();
      answer
          .required("engines")
          .forEach(one ->
              tokens.put(one.required("engine").asText(), one.required("matchedTokens").asInt()));
      return tokens;
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
