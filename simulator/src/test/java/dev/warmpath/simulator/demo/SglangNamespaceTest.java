package dev.warmpath.simulator.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.simulator.demo.RoutedEngine.Router;
import dev.warmpath.simulator.demo.RoutedEngine.Served;
import dev.warmpath.simulator.live.WireForm;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A router in front of an SGLang engine whose requests have an extra_key, a salt, an adapter. */
@Timeout(300)
class SglangNamespaceTest {

  private static final int PAGE = 16;
  private static final int REQUESTS = 80;
  private static final Map<String, String> ADAPTERS = Map.of("fr", "lora/fr");
  private static final Map<String, Object> DYNAMO =
      Map.of("dialect", "sglang", "event-format", "dynamo", "loras", List.of("fr=lora/fr"));

  private final Random random = new Random(11);

  @Test
  void everyRequestFindsWhatTheEngineReusesInDynamoFormat() throws Exception {
    try (RoutedEngine engine = new RoutedEngine(WireForm.SGLANG_DYNAMO, ADAPTERS);
        Router router = router(engine, DYNAMO)) {
      int hits = 0;
      int keyedHits = 0;
      for (int i = 0; i < REQUESTS; i++) {
        String body = body();
        int matched = router.matchedTokens(body);
        Served served = router.serve(body);
        assertThat(matched).as(body).isEqualTo(served.cachedTokens());
        assertThat(served.predictedTokens()).as(body).isEqualTo(served.cachedTokens());
        hits += served.cachedTokens() > 0 ? 1 : 0;
        keyedHits += served.cachedTokens() > 0 && body.contains("extra_key") ? 1 : 0;
        awaitStored(router, body, served);
      }
      assertThat(hits).isGreaterThan(REQUESTS / 4);
      assertThat(keyedHits).isPositive();
      assertThat(router.counter("keyed_stores")).isPositive();
      assertThat(router.metrics()).doesNotContain("hidden_namespace");
      assertThat(router.events().required("trust").asText()).isEqualTo("exact");
    }
  }

  /** Default format: an extra_key looks like none, until the engine's answers tell. */
  @Test
  void fleetWithExtraKeysIsNoticedAndCorrected() throws Exception {
    try (RoutedEngine engine = new RoutedEngine(WireForm.SGLANG, ADAPTERS);
        Router router = router(engine, Map.of("dialect", "sglang"))) {
      List<String> texts = List.of("One? ", "Two? ", "Three? ", "Four? ");
      for (String text : texts) {
        assertThat(router.serve(body(text, ",\"extra_key\":\"x\"")).cachedTokens()).isZero();
        while (router.matchedTokens(body(text, "")) == 0) {
          Thread.onSpinWait();
        }
      }
      for (String text : texts.subList(0, 3)) {
        Served plain = router.serve(body(text, ""));
        assertThat(plain.predictedTokens()).as("believed").isPositive();
        assertThat(plain.cachedTokens()).isZero();
      }
      while (!router.events().required("trust").asText().equals("suspect")) {
        Thread.onSpinWait();
      }
      assertThat(router.events().required("reason").asText()).contains("event-format: dynamo");
      assertThat(router.counter("short_hits")).isEqualTo(3);
      assertThat(router.matchedTokens(body("Four? ", ""))).as("believed no more").isZero();
      Served second = router.serve(body("One? ", ""));
      assertThat(second.cachedTokens()).isPositive();
      while (router.matchedTokens(body("One? ", "")) == 0) {
        Thread.onSpinWait();
      }
    }
  }

  /** An SGLang serves its base model under any name but BASE:ADAPTER, the adapter's own too. */
  @Test
  void adapterIsServedByItsWholeNameOnly() throws Exception {
    try (RoutedEngine engine = new RoutedEngine(WireForm.SGLANG, ADAPTERS);
        Router router =
            router(engine, Map.of("dialect", "sglang", "loras", List.of("fr=lora/fr")))) {
      String hidden = body("Whose is this? ", ",\"extra_key\":\"x\"");
      String alone = hidden.replace("\"model\":\"sim\"", "\"model\":\"fr\"");
      assertThatThrownBy(() -> router.serve(alone)).hasMessageContaining("404");
      Served first = router.serve(french(hidden));
      awaitStored(router, french(hidden), first);
      assertThat(router.serve(french(hidden)).cachedTokens()).isPositive();
      assertThat(router.matchedTokens(body("Whose is this? ", ""))).isZero();
    }
  }

  /** What the documentation warns of, so that the first test is known to be able to fail. */
  @Test
  void engineThatIsNotAsItIsSaidToBeIsCreditedTooMuch() throws Exception {
    try (RoutedEngine engine = new RoutedEngine(WireForm.SGLANG, ADAPTERS);
        Router router = router(engine, DYNAMO)) {
      String text = "Whose is this? ";
      router.serve(body(text, ",\"extra_key\":\"x\""));
      while (router.matchedTokens(body(text, "")) == 0) {
        Thread.onSpinWait();
      }
      assertThat(router.serve(body(text, "")).cachedTokens()).isZero();
    }
  }

  /** All whole pages of a prompt are there once it was served, and the cache has room for all. */
  private static void awaitStored(Router router, String body, Served served) throws Exception {
    int whole = (served.promptTokens() - 1) / PAGE * PAGE;
    while (router.matchedTokens(body) < whole) {
      Thread.onSpinWait();
    }
    assertThat(router.matchedTokens(body)).isEqualTo(whole);
  }

  /** One of a few texts, some of which begin alike, in one of a few name spaces. */
  private String body() {
    String text = random.nextInt(2) + " is where it begins. ";
    String keys =
        List.of("", ",\"extra_key\":\"x\"", ",\"extra_key\":\"y\"").get(random.nextInt(3))
            + (random.nextInt(3) == 0 ? ",\"cache_salt\":\"tenant\"" : "");
    String body = body(text, keys);
    String turn = ("Turn " + random.nextInt(3) + ". ").repeat(20);
    body = body.replace("\"}", turn + "\"}");
    return random.nextInt(3) == 0 ? french(body) : body;
  }

  private static String french(String body) {
    return body.replace("\"model\":\"sim\"", "\"model\":\"sim:fr\"");
  }

  private static String body(String text, String keys) {
    return RoutedEngine.prompt(text).replace("\"max_tokens\":2", "\"max_tokens\":2" + keys);
  }

  private static Router router(RoutedEngine engine, Map<String, Object> ofReplica)
      throws Exception {
    Map<String, Object> settings =
        Map.of("snapshot.enabled", false, "parity.enabled", false); // its chats are vLLM's
    Router router = engine.router(settings, ofReplica).ready();
    router.serve(RoutedEngine.prompt("The first one begins the stream. "));
    while (!router.events().required("trust").asText().equals("exact")) {
      Thread.onSpinWait();
    }
    return router;
  }
}
