package dev.warmpath.router.tokenize;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.router.StartException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.config.ReplicaConfig;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.rig.Rig;
import dev.warmpath.router.tokenize.TokenizerStatus.State;
import dev.warmpath.tokenizer.ModelTokenizer;
import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.RequestKind;
import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.chat.ChatOptions;
import dev.warmpath.tokenizer.files.EmbeddedFiles;
import java.net.URI;
import java.net.http.HttpRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LoadedTokenizersTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final long MEMORY_BYTES = 1 << 20;

  @Test
  void modelsThatAreConfiguredAlikeShareOne() throws Exception {
    AtomicInteger loads = new AtomicInteger();
    RouterConfig config = config("a", Map.of(), "b", Map.of(), "c", Map.of("time-zone", "UTC"));
    try (LoadedTokenizers tokenizers =
        tokenizers(
            config,
            (settings, listener) -> {
              loads.incrementAndGet();
              return settings.load(HubListener.NONE, MEMORY_BYTES);
            })) {
      assertThat(tokenizers.await()).isNull();
      assertThat(loads).hasValue(2);
      assertThat(tokenizers.of("a").tokenizer())
          .isNotNull()
          .isSameAs(tokenizers.of("b").tokenizer())
          .isNotSameAs(tokenizers.of("c").tokenizer());
      assertThat(tokenizers.of("d")).isNull();
      assertThat(tokenizers.only()).isNull();
    }
  }

  @Test
  void isLoadedForTheKindOfEnginesThatThereAre() throws Exception {
    List<ChatOptions.Dialect> loads = new CopyOnWriteArrayList<>();
    CountDownLatch mixed = new CountDownLatch(1);
    try (LoadedTokenizers tokenizers =
        tokenizers(
            config("m", Map.of()),
            (settings, listener) -> {
              loads.add(settings.dialect());
              if (settings.dialect() == ChatOptions.Dialect.MIXED) {
                await(mixed);
              }
              return settings.load(HubListener.NONE, MEMORY_BYTES);
            })) {
      assertThat(tokenizers.await()).isNull();
      ModelTokenizer first = tokenizers.of("m").tokenizer();
      ReplicaConfig vllm = ConfigTree.replica("{name: a, url: 'http://h:1'}", "test");
      ReplicaConfig sglang =
          ConfigTree.replica("{name: b, url: 'http://h:2', dialect: sglang}", "test");
      tokenizers.follow(List.of(vllm));
      assertThat(tokenizers.of("m").tokenizer()).isSameAs(first);
      tokenizers.quarantine("m");
      tokenizers.follow(List.of(vllm, sglang));
      assertThat(tokenizers.of("m").tokenizer()).as("not the wrong one meanwhile").isNull();
      assertThat(tokenizers.of("m").absent()).isEqualTo(FallbackCause.LOADING);
      mixed.countDown();
      Rig.until(() -> tokenizers.of("m").tokenizer() != null);
      tokenizers.follow(List.of(sglang));
      Rig.until(() -> tokenizers.of("m").tokenizer() != null);
      ModelTokenizer last = tokenizers.of("m").tokenizer();
      tokenizers.follow(List.of());
      assertThat(tokenizers.of("m").tokenizer()).as("as it was").isSameAs(last);
      assertThat(loads)
          .containsExactly(
              ChatOptions.Dialect.VLLM, ChatOptions.Dialect.MIXED, ChatOptions.Dialect.SGLANG);
    }
  }

  @Test
  void modelsThatAreConfiguredLaterAreLoadedAndShareTheMemory() throws Exception {
    AtomicInteger loads = new AtomicInteger();
    try (LoadedTokenizers tokenizers =
        tokenizers(
            config("a", Map.of()),
            (settings, listener) -> {
              loads.incrementAndGet();
              return settings.load(HubListener.NONE, MEMORY_BYTES);
            })) {
      assertThat(tokenizers.await()).isNull();
      ModelTokenizer first = tokenizers.of("a").tokenizer();
      Rig.until(() -> memory(tokenizers, "a") > MEMORY_BYTES);
      long whole = memory(tokenizers, "a");
      Map<String, Object> other = Map.of("time-zone", "UTC");
      tokenizers.configure(config("a", Map.of(), "b", Map.of(), "c", other).models());
      assertThat(tokenizers.of("a").tokenizer()).isSameAs(first);
      assertThat(tokenizers.of("b").tokenizer()).isSameAs(first);
      Rig.until(() -> tokenizers.of("c").tokenizer() != null);
      Rig.until(() -> memory(tokenizers, "a") + memory(tokenizers, "c") <= whole);
      tokenizers.quarantine("b");
      tokenizers.configure(config("b", Map.of()).models());
      assertThat(tokenizers.of("a")).isNull();
      assertThat(tokenizers.of("b").tokenizer()).as("stays in quarantine").isNull();
      Rig.until(() -> memory(tokenizers, "b") == whole);
      assertThat(loads).hasValue(2);
    }
  }

  private static long memory(LoadedTokenizers tokenizers, String model) {
    return tokenizers.status(model).tokenizer().encodeCounts().memory().maxBytes();
  }

  @Test
  void whatFailsIsTriedAgainAndSaysWhy() throws Exception {
    CountDownLatch fixed = new CountDownLatch(1);
    AtomicInteger tries = new AtomicInteger();
    try (LoadedTokenizers tokenizers =
        tokenizers(
            config("m", Map.of()),
            (settings, listener) -> {
              if (tries.incrementAndGet() > 2) {
                await(fixed);
                return settings.load(HubListener.NONE, MEMORY_BYTES);
              }
              throw new IllegalStateException("broken file");
            })) {
      assertThat(tokenizers.await()).isEqualTo("tokenizer of model 'm': broken file");
      assertThat(tokenizers.of("m").tokenizer()).isNull();
      assertThat(tokenizers.of("m").absent()).isEqualTo(FallbackCause.NOT_LOADED);
      Rig.until(() -> tokenizers.status("m").failures() == 2);
      fixed.countDown();
      Rig.until(() -> tokenizers.status("m").state() == State.READY);
      assertThat(tokenizers.only().tokenizer()).isNotNull();
      assertThat(tokenizers.status("m").problem()).isNull();
    }
  }

  @Test
  void whatFailsWithTheSameFilesWaitsUntilTheyChange(@TempDir Path folder) throws Exception {
    Path file = Files.writeString(folder.resolve("tokenizer.json"), "{}");
    AtomicInteger loads = new AtomicInteger();
    AtomicInteger looks = new AtomicInteger();
    try (LoadedTokenizers tokenizers =
        new LoadedTokenizers(
            config("m", Map.of("tokenizer", folder.toString())),
            new LoadedTokenizers.Loading(
                (settings, listener) -> {
                  loads.incrementAndGet();
                  return load(settings, listener);
                },
                settings -> {
                  looks.incrementAndGet();
                  return FilesStamp.of(settings);
                },
                Thread::new,
                System::nanoTime,
                1))) {
      Rig.until(() -> tokenizers.status("m").waitsForFiles());
      int tried = loads.get();
      int looked = looks.get();
      Rig.until(() -> looks.get() > looked + 3);
      assertThat(loads).as("loads since").hasValue(tried);
      assertThat(tokenizers.status("m").failures()).isEqualTo(tried);
      assertThat(tokenizers.status("m").problem()).contains("tokenizer.json");
      Path whole = folder.resolve("downloaded");
      Files.writeString(whole, EmbeddedFiles.read().tokenizer().json());
      Files.move(whole, file, StandardCopyOption.ATOMIC_MOVE);
      Rig.until(() -> tokenizers.status("m").state() == State.READY);
      assertThat(loads).hasValue(tried + 1);
      assertThat(tokenizers.status("m").waitsForFiles()).isFalse();
    }
  }

  @Test
  void whatIsNotTheFilesFaultIsTriedOn() {
    AtomicInteger loads = new AtomicInteger();
    try (LoadedTokenizers tokenizers =
        tokenizers(
            config("m", Map.of()),
            (settings, listener) -> {
              if (loads.incrementAndGet() < 10) {
                throw new OutOfMemoryError("none left");
              }
              return load(settings, listener);
            })) {
      Rig.until(() -> tokenizers.status("m").state() == State.READY);
      assertThat(tokenizers.status("m").failures()).isEqualTo(9);
    }
  }

  @Test
  void isLoadingUntilItIsReady() {
    CountDownLatch go = new CountDownLatch(1);
    try (LoadedTokenizers tokenizers =
        tokenizers(
            config("m", Map.of()),
            (settings, listener) -> {
              await(go);
              return settings.load(HubListener.NONE, MEMORY_BYTES);
            })) {
      assertThat(tokenizers.of("m").absent()).isEqualTo(FallbackCause.LOADING);
      assertThat(tokenizers.status("m").state()).isEqualTo(State.LOADING);
      go.countDown();
      Rig.until(() -> tokenizers.of("m").tokenizer() != null);
    }
  }

  @Test
  void whatMayHaveToBeDownloadedComesLast() throws Exception {
    List<String> places = new CopyOnWriteArrayList<>();
    Map<String, Object> hub = Map.of("tokenizer", "hf://org/model");
    try (LoadedTokenizers tokenizers =
        tokenizers(
            config("far", hub, "near", Map.of()),
            (settings, listener) -> {
              places.add(settings.place());
              return ModelTokenizer.embedded();
            })) {
      assertThat(tokenizers.await()).isNull();
      assertThat(places).containsExactly("embedded", "hf://org/model");
    }
  }

  @Test
  void tellsHowItsDownloadGoes() {
    CountDownLatch go = new CountDownLatch(1);
    try (LoadedTokenizers tokenizers =
        tokenizers(
            config("m", Map.of()),
            (settings, listener) -> {
              listener.show(3, 10);
              listener.retried();
              listener.show(4, 10);
              await(go);
              listener.show(10, 10);
              return settings.load(listener, MEMORY_BYTES);
            })) {
      Rig.until(() -> tokenizers.status("m").download().bytes() == 4);
      assertThat(tokenizers.status("m").state()).isEqualTo(State.DOWNLOADING);
      assertThat(tokenizers.status("m").download().totalBytes()).isEqualTo(10);
      assertThat(tokenizers.status("m").download().retries()).isEqualTo(1);
      assertThat(tokenizers.of("m").absent()).isEqualTo(FallbackCause.LOADING);
      go.countDown();
      Rig.until(() -> tokenizers.status("m").state() == State.READY);
      assertThat(tokenizers.status("m").download().bytes()).isEqualTo(10);
    }
  }

  @Test
  void inQuarantineItIsKeptAndNotUsed() throws Exception {
    try (LoadedTokenizers tokenizers =
        tokenizers(config("m", Map.of()), LoadedTokenizersTest::load)) {
      tokenizers.await();
      assertThat(tokenizers.release("m")).isFalse();
      assertThat(tokenizers.quarantine("m")).isTrue();
      assertThat(tokenizers.quarantine("m")).isFalse();
      assertThat(tokenizers.quarantine("other")).isFalse();
      assertThat(tokenizers.of("m").tokenizer()).isNull();
      assertThat(tokenizers.of("m").absent()).isEqualTo(FallbackCause.QUARANTINED);
      assertThat(tokenizers.status("m").tokenizer()).isNotNull();
      assertThat(tokenizers.release("m")).isTrue();
      assertThat(tokenizers.of("m").tokenizer()).isNotNull();
    }
  }

  @Test
  void enginesOfSeveralKindsOfOneModelAreNotGuessed() throws Exception {
    ConfigTree tree =
        tree("m", Map.of())
            .put("replicas", Map.of("name", "v", "url", "http://127.0.0.1:1"), "test")
            .put(
                "replicas",
                Map.of("name", "s", "url", "http://127.0.0.1:2", "dialect", "sglang"),
                "test");
    try (LoadedTokenizers tokenizers = tokenizers(tree.config(), LoadedTokenizersTest::load)) {
      assertThat(tokenizers.await()).isNull();
      ObjectNode chat = JSON.createObjectNode();
      chat.putArray("messages").addObject().put("role", "user").put("content", "hello");
      assertThat(tokenizers.of("m").tokenizer().prompt(RequestKind.CHAT, chat, null))
          .isInstanceOf(PromptResult.Inexact.class);
    }
  }

  @Test
  void theEnginesOptionsReachTheTokenizer(@TempDir Path folder) throws Exception {
    Path template =
        Files.writeString(folder.resolve("t.jinja"), "{{ mark }} {{ reasoning_effort }}!");
    Map<String, Object> options =
        Map.of(
            "chat-template",
            template.toString(),
            "chat-template-kwargs",
            "{\"mark\": \"one\"}",
            "reasoning-effort-map",
            "{\"high\": \"low\"}");
    try (LoadedTokenizers tokenizers =
        tokenizers(config("m", options), LoadedTokenizersTest::load)) {
      assertThat(tokenizers.await()).isNull();
      ObjectNode chat = JSON.createObjectNode().put("reasoning_effort", "high");
      chat.putArray("messages").addObject().put("role", "user").put("content", "hello");
      PromptResult prompt = tokenizers.of("m").tokenizer().prompt(RequestKind.CHAT, chat, null);
      assertThat(((PromptResult.Tokens) prompt).text()).isEqualTo("one low!");
    }
    Map<String, Object> missing = Map.of("chat-template", folder.resolve("none").toString());
    try (LoadedTokenizers tokenizers =
        tokenizers(config("m", missing), LoadedTokenizersTest::load)) {
      assertThat(tokenizers.await()).contains("tokenizer of model 'm'", "none");
    }
    for (Map<String, Object> wrong :
        List.<Map<String, Object>>of(
            Map.of("chat-template-kwargs", "[1]"),
            Map.of("reasoning-effort-map", "{\"low\": 1}"),
            Map.of("reasoning-effort-map", "low"))) {
      try (LoadedTokenizers tokenizers =
          tokenizers(config("m", wrong), LoadedTokenizersTest::load)) {
        assertThat(tokenizers.await()).contains(wrong.keySet());
      }
    }
  }

  @Test
  void aRouterThatNeedNotWaitStartsAndRoutesOnLoad(@TempDir Path folder) throws Exception {
    Map<String, Object> model =
        Map.of("name", "m", "tokenizer", folder.resolve("nothing").toString());
    try (Rig rig =
        new Rig(
            1,
            tree ->
                tree.put("models", model, "test")
                    .set("tokenizing.wait-for-models", false, "test"))) {
      assertThat(rig.chat("{\"model\":\"m\",\"messages\":[]}").statusCode()).isEqualTo(200);
      Rig.until(() -> health(rig).path("tokenizers").path("failed").asInt() == 1);
      JsonNode shown = admin(rig).path("models").get(0);
      assertThat(shown.path("state").asText()).isEqualTo("failed");
      assertThat(shown.path("problem").asText()).contains("nothing");
      assertThat(shown.path("failedLoads").asInt()).isPositive();
      rig.chat("{\"model\":\"m\",\"messages\":[]}");
      String scrape = new String(rig.admin("/metrics").body(), UTF_8);
      assertThat(scrape)
          .contains(
              "warmpath_tokenizer_ready{model=\"m\"} 0.0",
              "warmpath_fallbacks_total{cause=\"not_loaded\"}");
    }
    assertThatThrownBy(() -> new Rig(0, tree -> tree.put("models", model, "test")))
        .isInstanceOf(StartException.class)
        .hasMessageContaining("tokenizer of model 'm'");
  }

  @Test
  void aWordTooLongToEncodeIsRoutedOnLoadAndCounted() throws Exception {
    Map<String, Object> model = Map.of("name", "m", "tokenizer", "embedded");
    try (Rig rig =
        new Rig(
            1,
            tree ->
                tree.put("models", model, "test").set("tokenizing.deadline-ms", 60_000, "test"))) {
      String chat = "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}]}";
      assertThat(rig.chat(chat.formatted("a".repeat(1 << 20))).statusCode()).isEqualTo(200);
      assertThat(rig.chat(chat.formatted("a b ".repeat(1 << 18))).statusCode()).isEqualTo(200);
      assertThat(new String(rig.admin("/metrics").body(), UTF_8))
          .containsOnlyOnce("warmpath_fallbacks_total{")
          .contains("warmpath_fallbacks_total{cause=\"uncuttable_text\"} 1.0");
    }
  }

  @Test
  void theMemoryOfEachLayerIsShown() throws Exception {
    Map<String, Object> model = Map.of("name", "m", "tokenizer", "embedded");
    try (Rig rig =
        new Rig(
            1,
            tree ->
                tree.put("models", model, "test").set("tokenizing.deadline-ms", 60_000, "test"))) {
      String chat = "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}]}";
      rig.chat(chat.formatted("some words of no sense ".repeat(1_000)));
      JsonNode memory = admin(rig).path("models").get(0).path("memory");
      String scrape = new String(rig.admin("/metrics").body(), UTF_8);
      for (String value : List.of("bytes", "maxBytes", "evictions")) {
        long sum = 0;
        for (String layer : List.of("prefix", "chunk", "word")) {
          sum += memory.path("layers").path(layer).path(value).asLong(-1);
        }
        assertThat(sum).as(value).isEqualTo(memory.path(value).asLong());
      }
      for (String layer : List.of("prefix", "chunk", "word")) {
        long bytes = memory.path("layers").path(layer).path("bytes").asLong();
        assertThat(bytes).as(layer).isPositive();
        assertThat(scrape)
            .contains(
                "warmpath_tokenizer_memory_bytes{layer=\"%s\",model=\"m\"} %s"
                    .formatted(layer, (double) bytes),
                "warmpath_tokenizer_memory_max_bytes{layer=\"%s\",model=\"m\"}".formatted(layer),
                "warmpath_tokenizer_evictions_total{layer=\"%s\",model=\"m\"} 0.0"
                    .formatted(layer));
      }
    }
  }

  private static JsonNode health(Rig rig) {
    try {
      return JSON.readTree(rig.get("/health").body());
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private static JsonNode admin(Rig rig) throws Exception {
    URI uri = URI.create("http://127.0.0.1:" + rig.router.adminPort() + "/admin/tokenizers");
    return JSON.readTree(rig.send(HttpRequest.newBuilder(uri).build()).body());
  }

  private static LoadedTokenizers tokenizers(
      RouterConfig config, BiFunction<ModelSettings, HubListener, ModelTokenizer> loader) {
    return new LoadedTokenizers(
        config,
        new LoadedTokenizers.Loading(loader, FilesStamp::of, Thread::new, System::nanoTime, 1));
  }

  private static RouterConfig config(Object... namesAndOptions) {
    try {
      return tree(namesAndOptions).config();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private static ConfigTree tree(Object... namesAndOptions) {
    ConfigTree tree = ConfigTree.empty();
    for (int i = 0; i < namesAndOptions.length; i += 2) {
      Map<String, Object> model = new java.util.LinkedHashMap<>();
      model.put("name", namesAndOptions[i]);
      model.put("tokenizer", "embedded");
      ((Map<?, ?>) namesAndOptions[i + 1]).forEach((k, v) -> model.put((String) k, v));
      tree = tree.put("models", model, "test");
    }
    return tree;
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static ModelTokenizer load(ModelSettings settings, HubListener listener) {
    return settings.load(listener, MEMORY_BYTES);
  }
}
