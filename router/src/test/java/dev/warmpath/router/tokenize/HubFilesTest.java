package dev.warmpath.router.tokenize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.router.tokenize.FakeHub.Seen;
import dev.warmpath.router.tokenize.HubFiles.HubSettings;
import dev.warmpath.tokenizer.files.ModelFiles;
import dev.warmpath.tokenizer.files.TokenizerLoadException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HubFilesTest {

  private static final String PLACE = "hf://org/model";
  private static final String TOKEN = "hf_topsecret";
  private static final String LARGE =
      "{\"model\": {\"vocab\": {\"a\": 0}}, \"pad\": \"" + "x".repeat(50_000) + "\"}";

  @TempDir private Path cache;

  private final List<Long> pauses = new ArrayList<>();
  private final List<Long> shown = new ArrayList<>();
  private final AtomicInteger retries = new AtomicInteger();
  private FakeHub hub;
  private int silenceMillis = 20_000;

  @BeforeEach
  void fill() throws IOException {
    hub = new FakeHub();
    hub.put("tokenizer.json", LARGE);
    hub.put("tokenizer_config.json", "{\"chat_template\": \"hello\"}");
    hub.put("additional_chat_templates/tool_use.jinja", "tools");
    hub.put("model.safetensors", "weights");
    hub.put("README.md", "words");
  }

  @AfterEach
  void stop() {
    hub.close();
  }

  @Test
  void onlyTheTokenizersFilesComeIntoTheCache() throws Exception {
    Path found = find();
    Path model = cache.resolve("models--org--model");
    assertThat(found).isEqualTo(model.resolve("snapshots").resolve(FakeHub.COMMIT));
    assertThat(ModelFiles.read(found).templates()).containsKeys("default", "tool_use");
    assertThat(found.resolve("README.md")).doesNotExist();
    assertThat(found.resolve("model.safetensors")).doesNotExist();
    String etag = FakeHub.etag(hub.files.get("tokenizer.json"));
    Path link = Files.readSymbolicLink(found.resolve("tokenizer.json"));
    assertThat(link).isEqualTo(Path.of("../../blobs", etag));
    assertThat(model.resolve("refs/main")).hasContent(FakeHub.COMMIT);
    assertThat(files(model.resolve("blobs"))).hasSize(3).noneMatch(name -> name.contains("."));
    assertThat(shown).last().isEqualTo(total());
    int requests = hub.hub.size();
    assertThat(find()).isEqualTo(found);
    assertThat(hub.hub).hasSize(requests);
  }

  @Test
  void theTokenGoesToTheHubAlone() {
    find();
    assertThat(hub.hub).isNotEmpty().extracting(Seen::token).containsOnly("Bearer " + TOKEN);
    assertThat(hub.store).isNotEmpty().extracting(Seen::token).containsOnlyNulls();
  }

  @Test
  void aRedirectWithinTheHubIsFollowedWithTheToken() {
    hub.hubFault =
        exchange -> {
          String path = exchange.getRequestURI().getPath();
          if (!path.contains("/old/name/")) {
            return false;
          }
          exchange.getResponseHeaders().add("Location", path.replace("/old/name/", "/org/model/"));
          exchange.sendResponseHeaders(307, -1);
          return true;
        };
    assertThat(find("hf://old/name").resolve("tokenizer.json")).hasContent(LARGE);
    assertThat(hub.hub).extracting(Seen::path).contains("/api/models/org/model/revision/main");
    assertThat(hub.hub).extracting(Seen::token).containsOnly("Bearer " + TOKEN);
    assertThat(hub.store).extracting(Seen::token).containsOnlyNulls();
  }

  @Test
  void aCutDownloadIsSentOnceMore() throws Exception {
    hub.storeFault = exchange -> hub.store.size() == 1 && hub.cut(exchange, 10_000);
    assertThat(find().resolve("tokenizer.json")).hasContent(LARGE);
    assertThat(retries).hasValue(1);
    assertThat(pauses).containsExactly(1_000L);
    assertThat(files(cache.resolve("models--org--model/blobs"))).hasSize(3);
  }

  @Test
  void ofAFailedDownloadNothingStays() throws Exception {
    hub.storeFault = exchange -> hub.cut(exchange, 10_000);
    assertThatThrownBy(this::find).hasMessageContaining("not downloaded");
    assertThat(hub.store).hasSize(2);
    assertThat(find("hf://org/model@main", cache)).isNull();
    assertThat(files(cache.resolve("models--org--model/blobs")))
        .hasSize(2)
        .noneMatch(name -> name.contains("."));
    hub.storeFault = exchange -> false;
    assertThat(ModelFiles.read(find()).templates()).isNotEmpty();
  }

  @Test
  void otherBytesThanAnnouncedAreNeverLoaded() throws Exception {
    byte[] good = hub.files.get("tokenizer.json");
    byte[] bad = good.clone();
    bad[good.length / 2]++;
    hub.storeFault =
        exchange -> {
          exchange.sendResponseHeaders(200, bad.length);
          exchange.getResponseBody().write(bad);
          return true;
        };
    assertThatThrownBy(this::find).hasMessageContaining("tokenizer.json is not what the hub names");
    assertThat(hub.store).hasSize(2);
    Path model = cache.resolve("models--org--model");
    assertThat(model.resolve("snapshots")).doesNotExist();
    assertThat(files(model.resolve("blobs"))).hasSize(2).noneMatch(name -> name.contains("."));
    hub.storeFault = exchange -> false;
    assertThat(find()).isDirectory();
  }

  @Test
  void moreBytesThanAnnouncedAreRefused() {
    hub.storeFault =
        exchange -> {
          exchange.sendResponseHeaders(200, 0);
          exchange.getResponseBody().write(new byte[LARGE.length() + 1]);
          return true;
        };
    assertThatThrownBy(this::find)
        .hasMessageContaining("more than " + LARGE.length() + " bytes came");
  }

  @Test
  void aFileThatIsTooLargeIsNotBegun() {
    long size = HubDownload.FILE_BYTES + 1;
    hub.hubFault =
        exchange -> {
          if (!exchange.getRequestURI().getPath().endsWith("/tokenizer.json")) {
            return false;
          }
          exchange.getResponseHeaders().add("ETag", "\"abc\"");
          exchange.getResponseHeaders().add("Content-Length", String.valueOf(size));
          exchange.sendResponseHeaders(200, -1);
          return true;
        };
    assertThatThrownBy(this::find).hasMessageContaining(size + " bytes of tokenizer.json");
    assertThat(hub.store).isEmpty();
  }

  @Test
  void aSilentServerIsAskedAgain() {
    silenceMillis = 1_000;
    java.util.concurrent.CountDownLatch end = new java.util.concurrent.CountDownLatch(1);
    hub.storeFault =
        exchange -> {
          if (hub.store.size() > 1) {
            return false;
          }
          hub.cut(exchange, 10_000);
          try {
            end.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
          return true;
        };
    assertThat(find()).isDirectory();
    end.countDown();
    assertThat(hub.store).hasSize(2);
  }

  @Test
  void theServersWishToWaitIsGranted() {
    hub.hubFault =
        exchange -> {
          if (hub.hub.size() > 1) {
            return false;
          }
          exchange.getResponseHeaders().add("Retry-After", "7");
          exchange.sendResponseHeaders(429, -1);
          return true;
        };
    find();
    assertThat(pauses).containsExactly(7_000L);
    hub.hubFault =
        exchange -> {
          exchange.getResponseHeaders().add("Retry-After", "3600");
          exchange.sendResponseHeaders(503, -1);
          return true;
        };
    pauses.clear();
    assertThatThrownBy(() -> find(PLACE + "@other")).hasMessageContaining("HTTP 503");
    assertThat(pauses).isEmpty();
  }

  @Test
  void whatCannotBeHadIsSaidPlainly() {
    assertThatThrownBy(() -> find("hf://org/nothing"))
        .isInstanceOf(TokenizerLoadException.class)
        .hasMessageContaining(
            "hf://org/nothing: not downloaded: there is no repository org/nothing");
    assertThatThrownBy(() -> find(PLACE + "@v9")).hasMessageContaining("has no revision 'v9'");
    hub.hubFault = exchange -> FakeHub.refuse(exchange, 401, "GatedRepo");
    assertThatThrownBy(this::find).hasMessageContaining("does not open to HF_TOKEN");
    assertThatThrownBy(() -> files(settings(null, false)).find(PLACE, HubListener.NONE))
        .hasMessageContaining("set HF_TOKEN");
    assertThat(pauses).isEmpty();
    hub.hubFault = exchange -> false;
    hub.files.remove("tokenizer.json");
    assertThatThrownBy(this::find).hasMessageContaining("org/model has no tokenizer.json");
  }

  @Test
  void noMessageHoldsACredential() {
    hub.storeFault =
        exchange -> {
          exchange.sendResponseHeaders(403, -1);
          return true;
        };
    assertThatThrownBy(this::find)
        .hasMessageNotContaining("secret")
        .hasStackTraceContaining("HTTP 403")
        .extracting(HubFilesTest::trace)
        .asString()
        .doesNotContain("secret");
    HubSettings odd = new HubSettings(cache, hub.endpoint(), "hf_top secret", false);
    assertThatThrownBy(() -> files(odd).find(PLACE, HubListener.NONE))
        .hasMessageContaining("HF_TOKEN is no token")
        .extracting(HubFilesTest::trace)
        .asString()
        .doesNotContain("secret");
    HubSettings named = new HubSettings(cache, "http://me:secret@127.0.0.1:1", null, false);
    assertThatThrownBy(() -> files(named).find(PLACE, HubListener.NONE))
        .hasMessageContaining("HF_ENDPOINT must be")
        .hasMessageNotContaining("secret");
  }

  @Test
  void offlineNothingIsAsked() {
    assertThatThrownBy(() -> files(settings(TOKEN, true)).find(PLACE, HubListener.NONE))
        .hasMessageContaining("HF_HUB_OFFLINE")
        .hasMessageContaining("hf download org/model --revision main");
    assertThat(hub.hub).isEmpty();
  }

  @Test
  void aHubThatIsNotThereIsTriedTwice() {
    hub.close();
    assertThatThrownBy(this::find).hasMessageContaining("127.0.0.1: ConnectException");
    assertThat(pauses).containsExactly(1_000L);
  }

  @Test
  void manyAtOnceEachFindAWholeModel() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      List<Future<Path>> all = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        all.add(threads.submit(() -> files(settings(TOKEN, false)).find(PLACE, HubListener.NONE)));
      }
      for (Future<Path> one : all) {
        assertThat(ModelFiles.read(one.get()).templates()).isNotEmpty();
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(files(cache.resolve("models--org--model/blobs")))
        .hasSize(3)
        .noneMatch(name -> name.contains("."));
  }

  private Path find() {
    return find(PLACE);
  }

  private Path find(String place) {
    return files(settings(TOKEN, false)).find(place, listener());
  }

  private static @Nullable Path find(String place, Path cache) {
    return new HubCache(cache, HubPlace.parse(place)).find();
  }

  private HubListener listener() {
    return new HubListener() {
      @Override
      public void show(long bytes, long totalBytes) {
        shown.add(bytes);
      }

      @Override
      public void retried() {
        retries.incrementAndGet();
      }
    };
  }

  private HubSettings settings(@Nullable String token, boolean offline) {
    return new HubSettings(cache, hub.endpoint(), token, offline);
  }

  private HubFiles files(HubSettings settings) {
    return new HubFiles(
        settings,
        new HubFiles.Environment(
            System::nanoTime,
            millis -> {
              synchronized (pauses) {
                pauses.add(millis);
              }
            },
            silenceMillis,
            60_000));
  }

  private long total() {
    return hub.files.entrySet().stream()
        .filter(file -> ModelFiles.reads(file.getKey()))
        .mapToLong(file -> file.getValue().length)
        .sum();
  }

  private static List<String> files(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(file -> file.getFileName().toString()).toList();
    }
  }

  private static String trace(Throwable e) {
    java.io.StringWriter text = new java.io.StringWriter();
    e.printStackTrace(new java.io.PrintWriter(text));
    return text.toString();
  }
}
