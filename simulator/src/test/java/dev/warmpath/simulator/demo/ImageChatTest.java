package dev.warmpath.simulator.demo;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.simulator.ImageModel;
import dev.warmpath.simulator.demo.RoutedEngine.Router;
import dev.warmpath.simulator.demo.RoutedEngine.Served;
import dev.warmpath.simulator.live.WireForm;
import dev.warmpath.tokenizer.files.EmbeddedFiles;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A router in front of a vLLM that serves a Qwen2-VL, and chats with images. */
@Timeout(300)
class ImageChatTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String CHATS = "/v1/chat/completions";
  private static final int BLOCK = 16;

  /** Longer than a block, so that what stands behind an image is stored. */
  private static final String QUESTION =
      "What is it? Please say in a few words what can be seen, where it may be, and who was there.";

  @TempDir private Path model;
  @TempDir private Path otherModel;

  @BeforeEach
  void writeModels() throws IOException {
    ImageModel.write(model, 12_845_056);
    ImageModel.write(otherModel, 100_000);
  }

  @Test
  void theSecondTurnFindsTheImageOfTheFirst() throws Exception {
    try (RoutedEngine engine = new RoutedEngine(model);
        Router router = engine.router(settings(), Map.of()).ready()) {
      Served first = router.serve(CHATS, chat(image(1), "What is it?"));
      assertThat(first.predictedTokens()).as("nothing is known of the engine").isEqualTo(-1);
      assertThat(first.cachedTokens()).isZero();
      awaitStored(router, chat(image(1), "What is it?"), first);
      assertThat(router.metrics()).contains("form=\"blake3 framed\"");

      String next = chat(image(1), "What is it?", "A square.", "What colour has it?");
      assertThat(router.serve(CHATS, next))
          .satisfies(served -> assertThat(served.cachedTokens()).isGreaterThan(BLOCK * 4))
          .satisfies(
              served -> assertThat(served.predictedTokens()).isEqualTo(served.cachedTokens()));
    }
  }

  @Test
  void aRestartedRouterFindsAnImageThatTheEngineHolds(@TempDir Path snapshots) throws Exception {
    String chat = chat(image(1), "What is it?");
    try (RoutedEngine engine = new RoutedEngine(model)) {
      Map<String, Object> kept = Map.of("snapshot.dir", snapshots.toString());
      Map<String, Object> replayed = Map.of("replay", engine.engine().replayEndpoint());
      try (Router first = engine.router(kept, replayed).ready()) {
        awaitStored(first, chat, first.serve(CHATS, chat));
      }
      try (Router second = engine.router(kept, replayed).ready()) {
        while (!second.metrics().contains("warmpath_recovery_engines{fate=\"kept\"} 1.0")) {
          Thread.onSpinWait();
        }
        Served served = second.serve(CHATS, chat(image(1), "What is it?", "A square.", "Why?"));
        assertThat(served.cachedTokens()).isGreaterThan(BLOCK * 4);
        assertThat(served.predictedTokens()).isEqualTo(served.cachedTokens());
      }
    }
  }

  @Test
  void anotherImageWithTheSameTextIsNotCredited() throws Exception {
    try (RoutedEngine engine = new RoutedEngine(model);
        Router router = engine.router(settings(), Map.of()).ready()) {
      String body = chat(image(1), "What is it?");
      Served first = router.serve(CHATS, body);
      awaitStored(router, body, first);
      for (int colour = 2; colour < 6; colour++) {
        Served other = router.serve(CHATS, chat(image(colour), "What is it?"));
        assertThat(other.promptTokens()).isEqualTo(first.promptTokens());
        assertThat(other.cachedTokens()).isZero();
        assertThat(other.predictedTokens()).isZero();
        Served again = router.serve(CHATS, body);
        assertThat(again.cachedTokens()).isPositive();
        assertThat(again.predictedTokens()).isEqualTo(again.cachedTokens());
      }
      assertThat(router.metrics()).contains("warmpath_fallbacks_total{cause=\"multimodal\"");
    }
  }

  @Test
  void imagesAreLearnedWhereTheEngineCountsThemOtherwise() throws Exception {
    try (RoutedEngine engine = new RoutedEngine(model, otherModel);
        Router router = engine.router(settings(), Map.of()).ready()) {
      router.serve(CHATS, chat(image(1), QUESTION));
      while (!router.metrics().contains("form=\"blake3 framed\"")) {
        Thread.onSpinWait();
      }
      for (int colour = 2; colour < 8; colour++) {
        learn(router, image(colour));
        assertExact(router, chat(image(colour), QUESTION, "A square.", "What colour has it?"));
      }
      assertThat(router.metrics()).contains("warmpath_tokenizer_quarantined{model=\"sim\"} 0");
    }
  }

  @Test
  void aNameOfTheClientThatStandsForAnotherImageDoubtsNothing() throws Exception {
    try (RoutedEngine engine = new RoutedEngine(model, otherModel);
        Router router = engine.router(settings(), Map.of()).ready()) {
      String small = chat(image(1, 200), "What is it, and what is it for?");
      Served first = router.serve(CHATS, small);
      awaitStored(router, small, first);

      Served miscounted = router.serve(CHATS, named(chat(image(2, 400), "What is it?")));
      assertThat(miscounted.predictedTokens()).isZero();
      Served again = router.serve(CHATS, small);
      assertThat(again.cachedTokens()).isPositive();
      assertThat(again.predictedTokens()).isEqualTo(again.cachedTokens());
    }
  }

  /** The same chat with the client's name for its image. */
  private static String named(String chat) throws IOException {
    ObjectNode body = (ObjectNode) JSON.readTree(chat);
    ((ObjectNode) body.at("/messages/0/content/0")).put("uuid", "mine");
    return body.toString();
  }

  @Test
  void imagesOfAModelWithoutRulesAreLearned() throws Exception {
    Files.delete(otherModel.resolve("preprocessor_config.json"));
    Files.writeString(
        otherModel.resolve("config.json"),
        "{\"architectures\": [\"NewForConditionalGeneration\"], \"image_token_id\": "
            + (EmbeddedFiles.read().tokenizer().maxTokenId() + 3)
            + "}");
    try (RoutedEngine engine = new RoutedEngine(model, otherModel);
        Router router = engine.router(settings(), Map.of()).ready()) {
      for (int colour = 1; colour < 5; colour++) {
        learn(router, image(colour));
        assertExact(router, chat(image(colour), QUESTION, "A square.", "What colour has it?"));
      }
      learn(router, "http://images/one.png");
      assertExact(router, chat("http://images/one.png", QUESTION, "A house.", "Which?"));
    }
  }

  @Test
  void theSecondChatWithAUrlFindsItsImage() throws Exception {
    try (RoutedEngine engine = new RoutedEngine(model);
        Router router = engine.router(settings(), Map.of()).ready()) {
      for (int i = 0; i < 8; i++) {
        String url = "https://images/" + i + ".png";
        learn(router, url);
        assertExact(router, chat(url, QUESTION, "A house.", "What colour has it?"));
        assertExact(router, chat(url, QUESTION));
      }
      assertThat(lessons(router, "learned")).isEqualTo(8);
      assertThat(lessons(router, "contradicted") + lessons(router, "doubted")).isZero();
    }
  }

  @Test
  void whatIsBehindAUrlNowIsNoticedAtItsNextChat() throws Exception {
    String url = "https://images/camera.png";
    try (RoutedEngine engine = new RoutedEngine(model);
        Router router = engine.router(settings(), Map.of()).ready()) {
      learn(router, url);
      int over = 0;
      for (int change = 0; change < 4; change++) {
        engine.changeImage(url);
        int before = over;
        for (int i = 0; i < 1 << change + 2; i++) {
          Served served = router.serve(CHATS, chat(url, QUESTION, "Turn " + change));
          over += served.predictedTokens() > served.cachedTokens() ? 1 : 0;
        }
        assertThat(over - before).as("too much is credited once").isLessThanOrEqualTo(1);
      }
      assertThat(over).isPositive();
      assertThat(lessons(router, "doubted") + lessons(router, "contradicted")).isGreaterThan(1);
    }
  }

  @Test
  void urlsWhoseContentChangesCostTheEngineNoTrust() throws Exception {
    try (RoutedEngine engine = new RoutedEngine(model);
        Router router = engine.router(settings(), Map.of()).ready()) {
      learn(router, image(1));
      List<String> urls = IntStream.range(0, 8).mapToObj(i -> "https://images/" + i).toList();
      for (String url : urls) {
        learn(router, url);
        engine.changeImage(url);
      }
      int over = 0;
      for (String url : urls) {
        Served served = router.serve(CHATS, chat(url, QUESTION));
        over += served.predictedTokens() > served.cachedTokens() ? 1 : 0;
      }
      assertThat(over).as("each is believed once more").isEqualTo(urls.size());
      TimeUnit.MILLISECONDS.sleep(1_500); // what speaks against an engine is judged after a second
      assertExact(router, chat(image(1), QUESTION, "A square.", "What colour has it?"));
    }
  }

  @Test
  void aChatWithImagesThatIsTooLongToBeReadIsKnownToBeUnderWay() throws Exception {
    Map<String, Object> settings =
        Map.of("snapshot.enabled", false, "tokenizing.body-bytes", 2_048);
    try (RoutedEngine engine = new RoutedEngine(model);
        Router router = engine.router(settings, Map.of()).ready()) {
      String words = "Please say more. ".repeat(200);
      String body = chat("https://images/1.png", words).replace("tokens\":2", "tokens\":4000");
      CompletableFuture<Served> served =
          CompletableFuture.supplyAsync(() -> {
            try {
              return router.serve(CHATS, body);
            } catch (Exception e) {
              throw new IllegalStateException(e);
            }
          });
      while (unread(router) == 0) {
        assertThat(served).as("a chat of four thousand steps").isNotDone();
      }
      assertThat(served.get().predictedTokens()).isEqualTo(-1);
      while (unread(router) > 0) {
        Thread.onSpinWait();
      }
    }
  }

  private static int unread(Router router) throws Exception {
    return (int) value(router, "warmpath_event_image_waits{engine=\"e\",kind=\"unread\"} ");
  }

  /** An SGLang's hashes of pages with images tell no name space, whatever the format. */
  @ParameterizedTest
  @CsvSource({"SGLANG,1", "SGLANG,16", "SGLANG_DYNAMO,1", "SGLANG_DYNAMO,16"})
  void theSecondChatFindsItsImageAtAnSglang(WireForm form, int pageTokens) throws Exception {
    boolean isDynamo = form == WireForm.SGLANG_DYNAMO;
    Map<String, Object> replica =
        Map.of("dialect", "sglang", "event-format", isDynamo ? "dynamo" : "default");
    try (RoutedEngine engine = new RoutedEngine(form, pageTokens, model);
        Router router = engine.router(settings(), replica).ready()) {
      for (int i = 1; i < 5; i++) {
        for (String image : List.of(image(i), "https://images/" + i + ".png")) {
          learn(router, image);
          assertExact(router, named(chat(image, QUESTION, "A square.", "What colour has it?")));
          assertExact(router, chat(image, QUESTION));
        }
      }
      assertThat(lessons(router, "learned")).isEqualTo(8);
      assertThat(lessons(router, "contradicted") + lessons(router, "doubted")).isZero();
      assertThat(router.counter("keyed_stores")).isZero();
      assertThat(router.counter("unnameable_blocks")).isZero();
      assertThat(router.events().required("trust").asText()).isEqualTo("exact");
    }
  }

  @Test
  void whatIsBehindAUrlNowIsNoticedAtAnSglang() throws Exception {
    String url = "https://images/camera.png";
    try (RoutedEngine engine = new RoutedEngine(WireForm.SGLANG, 1, model);
        Router router = engine.router(settings(), Map.of("dialect", "sglang")).ready()) {
      learn(router, url);
      engine.changeImage(url);
      Served served = router.serve(CHATS, chat(url, QUESTION));
      assertThat(served.predictedTokens()).isGreaterThan(served.cachedTokens());
      assertThat(router.serve(CHATS, chat(url, QUESTION)).predictedTokens()).isEqualTo(-1);
    }
  }

  /** Sends chats about an image until its next one is exact; a few, if the engine is in doubt. */
  private static void learn(Router router, String image) throws Exception {
    String body = chat(image, QUESTION);
    Served served = router.serve(CHATS, body);
    assertThat(served.predictedTokens()).isLessThanOrEqualTo(served.cachedTokens());
    awaitStored(router, body, served);
  }

  private static void assertExact(Router router, String body) throws Exception {
    Served served = router.serve(CHATS, body);
    assertThat(served.cachedTokens()).isGreaterThanOrEqualTo(BLOCK);
    assertThat(served.predictedTokens()).isEqualTo(served.cachedTokens());
  }

  private static long lessons(Router router, String result) throws Exception {
    return value(router, "warmpath_image_lessons_total{model=\"sim\",result=\"" + result + "\"} ");
  }

  private static long value(Router router, String row) throws Exception {
    String metrics = router.metrics();
    int at = metrics.indexOf(row);
    assertThat(at).as(row).isNotNegative();
    String value = metrics.substring(at + row.length(), metrics.indexOf('\n', at));
    return (long) Double.parseDouble(value);
  }

  /** All whole blocks of a prompt are there once it was served, and the cache has room for all. */
  private static void awaitStored(Router router, String body, Served served) throws Exception {
    int whole = (served.promptTokens() - 1) / BLOCK * BLOCK;
    while (router.matchedTokens(body) < whole) {
      Thread.onSpinWait();
    }
  }

  private static Map<String, Object> settings() {
    return Map.of("snapshot.enabled", false);
  }

  /** A chat about an image, with what was said in turns. */
  private static String chat(String image, String... said) {
    ObjectNode body = JSON.createObjectNode().put("model", "sim").put("max_tokens", 2);
    ArrayNode messages = body.putArray("messages");
    ArrayNode parts = messages.addObject().put("role", "user").putArray("content");
    parts.addObject().put("type", "image_url").putObject("image_url").put("url", image);
    parts.addObject().put("type", "text").put("text", said[0]);
    for (int i = 1; i < said.length; i++) {
      String role = i % 2 == 0 ? "user" : "assistant";
      messages.addObject().put("role", role).put("content", said[i]);
    }
    return body.toString();
  }

  /** A square of one colour, 400 pixels high: 196 tokens. */
  private static String image(int colour) throws IOException {
    return image(colour, 400);
  }

  private static String image(int colour, int pixels) throws IOException {
    BufferedImage image = new BufferedImage(pixels, pixels, BufferedImage.TYPE_INT_RGB);
    image.setRGB(0, 0, colour);
    ByteArrayOutputStream file = new ByteArrayOutputStream();
    assertThat(ImageIO.write(image, "png", file)).isTrue();
    return "data:image/png;base64," + Base64.getEncoder().encodeToString(file.toByteArray());
  }
}
