package dev.warmpath.router.prompt;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.router.config.RouterConfig.Tokenizing;
import dev.warmpath.router.dispatch.PreparedRequest;
import dev.warmpath.router.dispatch.Prompt;
import dev.warmpath.router.dispatch.RoutingHints;
import dev.warmpath.router.prompt.PromptPool.BodyWatch;
import dev.warmpath.router.prompt.PromptPool.RemoteReader;
import dev.warmpath.router.rig.Rig;
import dev.warmpath.tokenizer.ModelTokenizer;
import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.RequestKind;
import dev.warmpath.tokenizer.body.FallbackCause;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class PromptPoolTest {

  private static final byte[] BODY =
      "{\"model\":\"m\",\"user\":\"u\",\"prompt\":\"a b c\"}".getBytes(UTF_8);

  @Test
  void readsModelSessionAndPrompt() {
    try (ModelTokenizer tokenizer = ModelTokenizer.embedded()) {
      PreparedRequest read = read(reader(tokenizer), RequestKind.COMPLETION, BODY);
      assertThat(read.model()).isEqualTo("m");
      assertThat(read.sessionKey()).isEqualTo("u");
      assertThat(read.prompt().fallback()).isNull();
      assertThat(read.prompt().result()).isInstanceOf(PromptResult.Tokens.class);
    }
  }

  @Test
  void anAdapterIsReadWithItsBaseAndNamed() {
    try (ModelTokenizer tokenizer = ModelTokenizer.embedded()) {
      Tokenizers tokenizers =
          new Tokenizers(
              models(Map.of("m", tokenizer)), model -> model.equals("lora") ? "m" : null);
      PreparedRequest read =
          read(
              new PromptReader(tokenizers, bodies(64)),
              RequestKind.COMPLETION,
              "{\"model\":\"lora\",\"prompt\":\"a\"}".getBytes(UTF_8));
      assertThat(read.prompt().tokens().keys().loraName()).isEqualTo("lora");
      assertThat(tokenizers.choose("other")).isNull();
      assertThat(tokenizers.choose(null)).isNotNull();
    }
  }

  @Test
  void anAdapterWithATokenizerOfItsOwnIsNamedToo() {
    try (ModelTokenizer base = ModelTokenizer.embedded();
        ModelTokenizer own = ModelTokenizer.embedded()) {
      Tokenizers tokenizers =
          new Tokenizers(
              models(Map.of("m", base, "lora", own)), m -> m.equals("lora") ? "m" : null);
      Tokenizers.Choice lora = tokenizers.choose("lora");
      assertThat(lora.local().tokenizer()).isSameAs(own);
      assertThat(lora.loraName()).isEqualTo("lora");
      assertThat(tokenizers.choose("m").local().tokenizer()).isSameAs(base);
      assertThat(tokenizers.choose("m").loraName()).isNull();
    }
  }

  @Test
  void saysWhyNothingWasRead() {
    PromptReader reader =
        new PromptReader(new Tokenizers(models(Map.of()), model -> null), bodies(16));
    assertThat(read(reader, RequestKind.CHAT, BODY).prompt().fallback())
        .isEqualTo(FallbackCause.NO_TOKENIZER);
    assertThat(read(reader, RequestKind.CHAT, BODY).model()).isEqualTo("m");
    for (String bad : List.of("", "[]", "{", "{\"a\":" + "[".repeat(17) + "]".repeat(17) + "}")) {
      assertThat(read(reader, RequestKind.CHAT, bad.getBytes(UTF_8)).prompt().fallback())
          .isEqualTo(FallbackCause.BAD_JSON);
    }
  }

  @Test
  void aTokenizerThatCannotBeUsedNowSaysWhy() {
    Tokenizers.Source loading =
        new Tokenizers.Source() {
          @Override
          public Tokenizers.Local of(String model) {
            return new Tokenizers.Local(model, null, FallbackCause.LOADING, new ReadingTime());
          }

          @Override
          public Tokenizers.Local only() {
            return of("m");
          }
        };
    PromptReader reader = new PromptReader(new Tokenizers(loading, model -> null), bodies(16));
    PreparedRequest read = read(reader, RequestKind.COMPLETION, BODY);
    assertThat(read.prompt().fallback()).isEqualTo(FallbackCause.LOADING);
    assertThat(read.model()).isEqualTo("m");
    assertThat(read.sessionKey()).isEqualTo("u");
  }

  @Test
  void readsOnlyTheModelWhenThereIsNoTime() {
    PromptReader reader =
        new PromptReader(new Tokenizers(models(Map.of()), model -> null), bodies(16));
    assertThat(model(reader, "{\"x\":{\"model\":\"no\"},\"model\":\"m\"}")).isEqualTo("m");
    assertThat(model(reader, "{\"model\":\"a\",\"model\":\"b\"}")).isEqualTo("b");
    assertThat(model(reader, "{\"model\":7}")).isNull();
    assertThat(model(reader, "{\"model\":\"m\"")).isNull();
    assertThat(model(reader, "7")).isNull();
  }

  @Test
  void aFullQueueAnswersAtOnceAndADeadlineAnswersOnce() throws Exception {
    CountDownLatch block = new CountDownLatch(1);
    PromptReader reader =
        new PromptReader(new Tokenizers(models(Map.of()), model -> null), bodies(16));
    try (PromptPool pool =
        new PromptPool(
            reader,
            (kind, body, read) -> waitFor(block),
            RemoteReader.NONE,
            new Tokenizing(1, 1, 100, 1_000, true, "never", 0),
            Thread::new,
            System::nanoTime)) {
      List<ReadRequest> first = new CopyOnWriteArrayList<>();
      PromptPool.Ticket running =
          pool.read(RequestKind.CHAT, BODY, RoutingHints.NONE, null, first::add);
      CompletableFuture<ReadRequest> second = new CompletableFuture<>();
      waitUntilTaken(pool);
      pool.read(RequestKind.CHAT, BODY, RoutingHints.NONE, null, second::complete);
      assertThat(pool.waiting()).isEqualTo(1);
      CompletableFuture<ReadRequest> third = new CompletableFuture<>();
      pool.read(RequestKind.CHAT, BODY, RoutingHints.NONE, null, third::complete);
      assertThat(
              third.get(Rig.PATIENCE.toSeconds(), TimeUnit.SECONDS).request().prompt().fallback())
          .isEqualTo(FallbackCause.QUEUE_FULL);
      assertThat(third.get(Rig.PATIENCE.toSeconds(), TimeUnit.SECONDS).request().model())
          .isEqualTo("m");
      running.giveUp(FallbackCause.DEADLINE);
      running.giveUp(FallbackCause.DEADLINE);
      block.countDown();
      assertThat(
              second.get(Rig.PATIENCE.toSeconds(), TimeUnit.SECONDS).request().prompt().fallback())
          .isEqualTo(FallbackCause.NO_TOKENIZER);
      Rig.until(() -> !first.isEmpty());
      assertThat(first)
          .singleElement()
          .extracting(read -> read.request().prompt().fallback())
          .isEqualTo(FallbackCause.DEADLINE);
    }
  }

  /**
   * The room of a body is given back when its ticket is dropped, so its bytes are let go of, too.
   */
  @Test
  void ticketThatIsOfNoUseLeavesTheQueueWithItsBody() throws Exception {
    CountDownLatch block = new CountDownLatch(1);
    PromptReader reader =
        new PromptReader(new Tokenizers(models(Map.of()), model -> null), bodies(16));
    try (PromptPool pool =
        new PromptPool(
            reader,
            (kind, body, read) -> waitFor(block),
            RemoteReader.NONE,
            new Tokenizing(1, 2, 100, 1_000, true, "never", 0),
            Thread::new,
            System::nanoTime)) {
      CompletableFuture<ReadRequest> answered = new CompletableFuture<>();
      pool.read(RequestKind.CHAT, BODY, RoutingHints.NONE, null, answered::complete);
      waitUntilTaken(pool);
      PromptPool.Ticket dropped =
          pool.read(RequestKind.CHAT, BODY, RoutingHints.NONE, null, read -> {});
      PromptPool.Ticket late =
          pool.read(RequestKind.CHAT, BODY, RoutingHints.NONE, null, read -> {});
      assertThat(pool.waiting()).isEqualTo(2);
      dropped.drop();
      late.giveUp(FallbackCause.DEADLINE);
      assertThat(pool.waiting()).isZero();
      block.countDown();
      assertThat(answered.get(Rig.PATIENCE.toSeconds(), TimeUnit.SECONDS).request().model())
          .isEqualTo("m");
    }
  }

  @Test
  void whoGivesUpFreesTheThread() throws Exception {
    CountDownLatch never = new CountDownLatch(1);
    CountDownLatch reading = new CountDownLatch(1);
    AtomicInteger calls = new AtomicInteger();
    Tokenizers.Adapters firstBlocks =
        model -> {
          if (calls.incrementAndGet() > 1) {
            return Thread.currentThread().isInterrupted() ? "left over" : null;
          }
          reading.countDown();
          try {
            never.await();
          } catch (InterruptedException e) {
            throw new CancellationException("given up");
          }
          return null;
        };
    PromptReader reader =
        new PromptReader(new Tokenizers(models(Map.of()), firstBlocks), bodies(16));
    try (PromptPool pool =
        new PromptPool(
            reader,
            BodyWatch.NONE,
            RemoteReader.NONE,
            new Tokenizing(1, 4, 100, 1_000, true, "never", 0),
            Thread::new,
            System::nanoTime)) {
      CompletableFuture<ReadRequest> first = new CompletableFuture<>();
      PromptPool.Ticket ticket =
          pool.read(RequestKind.CHAT, BODY, RoutingHints.NONE, null, first::complete);
      reading.await();
      CompletableFuture<ReadRequest> second = new CompletableFuture<>();
      pool.read(RequestKind.CHAT, BODY, RoutingHints.NONE, null, second::complete);
      ticket.giveUp(FallbackCause.DEADLINE);
      assertThat(
              first.get(Rig.PATIENCE.toSeconds(), TimeUnit.SECONDS).request().prompt().fallback())
          .isEqualTo(FallbackCause.DEADLINE);
      assertThat(
              second.get(Rig.PATIENCE.toSeconds(), TimeUnit.SECONDS).request().prompt().fallback())
          .isEqualTo(FallbackCause.NO_TOKENIZER);
      assertThat(calls).as("each prompt").hasValue(2);
    }
  }

  @Test
  void aFailureIsAnAnswerToo() throws Exception {
    for (Throwable failure :
        List.of(
            new IllegalStateException("a bug"), new StackOverflowError(), new OutOfMemoryError())) {
      AtomicInteger calls = new AtomicInteger();
      PromptReader once = failing(failure, () -> calls.getAndIncrement() == 0);
      assertThat(readTwice(once))
          .containsExactly(FallbackCause.FAILURE, FallbackCause.NO_TOKENIZER);
      assertThat(readTwice(failing(failure, () -> true)))
          .containsExactly(FallbackCause.FAILURE, FallbackCause.FAILURE);
    }
  }

  private static PromptReader failing(Throwable failure, BooleanSupplier fails) {
    Tokenizers.Adapters adapters = model -> fails.getAsBoolean() ? sneaky(failure) : null;
    return new PromptReader(new Tokenizers(models(Map.of()), adapters), bodies(16));
  }

  /** Reads with a pool whose threads all survive. */
  private static List<FallbackCause> readTwice(PromptReader reader) throws Exception {
    AtomicInteger threads = new AtomicInteger();
    List<FallbackCause> causes = new ArrayList<>();
    try (PromptPool pool =
        new PromptPool(
            reader,
            BodyWatch.NONE,
            RemoteReader.NONE,
            new Tokenizing(1, 1, 100, 1_000, true, "never", 0),
            work -> {
              threads.incrementAndGet();
              return new Thread(work);
            },
            System::nanoTime)) {
      for (int i = 0; i < 2; i++) {
        CompletableFuture<ReadRequest> read = new CompletableFuture<>();
        pool.read(RequestKind.CHAT, BODY, RoutingHints.NONE, null, read::complete);
        causes.add(
            read.get(Rig.PATIENCE.toSeconds(), TimeUnit.SECONDS).request().prompt().fallback());
      }
    }
    assertThat(threads).as("threads that it took").hasValueLessThanOrEqualTo(2);
    return causes;
  }

  private static PromptPool pool(PromptReader reader, Tokenizing bounds) {
    return new PromptPool(
        reader, BodyWatch.NONE, RemoteReader.NONE, bounds, Thread::new, System::nanoTime);
  }

  @Test
  void bodiesThatWaitToBeLookedThroughAreBounded() throws Exception {
    CountDownLatch block = new CountDownLatch(1);
    CountDownLatch blocked = new CountDownLatch(1);
    PromptReader reader =
        new PromptReader(new Tokenizers(models(Map.of()), model -> null), bodies(16));
    try (PromptPool pool = pool(reader, new Tokenizing(1, 1, 100, 10, true, "never", 0))) {
      CompletableFuture<ReadRequest> first = new CompletableFuture<>();
      CompletableFuture<ReadRequest> second = new CompletableFuture<>();
      CompletableFuture<ReadRequest> third = new CompletableFuture<>();
      PromptPool.Ticket given =
          pool.read(
              RequestKind.CHAT,
              BODY,
              RoutingHints.NONE,
              null,
              read -> {
                blocked.countDown();
                waitFor(block);
                first.complete(read);
              });
      blocked.await();
      pool.read(RequestKind.CHAT, BODY, RoutingHints.NONE, null, second::complete);
      assertThat(pool.scansWaiting()).isEqualTo(1);
      pool.read(RequestKind.CHAT, BODY, RoutingHints.NONE, null, third::complete);
      assertThat(third.get(Rig.PATIENCE.toSeconds(), TimeUnit.SECONDS)).isNull();
      assertThat(given.giveUp(FallbackCause.DEADLINE))
          .as("its prompt was given up before")
          .isFalse();
      block.countDown();
      assertThat(
              first.get(Rig.PATIENCE.toSeconds(), TimeUnit.SECONDS).request().prompt().fallback())
          .isEqualTo(FallbackCause.TOO_LONG);
      assertThat(
              second.get(Rig.PATIENCE.toSeconds(), TimeUnit.SECONDS).request().prompt().fallback())
          .isEqualTo(FallbackCause.TOO_LONG);
    }
  }

  @SuppressWarnings("unchecked")
  private static <T extends Throwable> String sneaky(Throwable failure) throws T {
    throw (T) failure;
  }

  @Property
  void anyBytesAreReadWithoutAnException(@ForAll byte[] bytes) {
    PromptReader reader =
        new PromptReader(new Tokenizers(models(Map.of()), model -> null), bodies(16));
    assertThat(read(reader, RequestKind.CHAT, bytes).prompt().fallback()).isNotNull();
    assertThat(withoutPrompt(reader, bytes).prompt().fallback()).isEqualTo(FallbackCause.DEADLINE);
  }

  private static BodyParser bodies(int depthLimit) {
    return new BodyParser(depthLimit, 1 << 20);
  }

  private static Tokenizers.Source models(Map<String, ModelTokenizer> byModel) {
    return new Tokenizers.Source() {
      @Override
      public Tokenizers.Local of(String model) {
        ModelTokenizer tokenizer = byModel.get(model);
        return tokenizer == null
            ? null
            : new Tokenizers.Local(model, tokenizer, FallbackCause.LOADING, new ReadingTime());
      }

      @Override
      public Tokenizers.Local only() {
        return byModel.size() == 1 ? of(byModel.keySet().iterator().next()) : null;
      }
    };
  }

  private static PromptReader reader(ModelTokenizer tokenizer) {
    return new PromptReader(
        new Tokenizers(models(Map.of("m", tokenizer)), model -> null), bodies(64));
  }

  private static String model(PromptReader reader, String body) {
    return withoutPrompt(reader, body.getBytes(UTF_8)).model();
  }

  private static PreparedRequest withoutPrompt(PromptReader reader, byte[] body) {
    return reader
        .readWithoutPrompt(body, null, RoutingHints.NONE, FallbackCause.DEADLINE)
        .request();
  }

  private static PreparedRequest read(PromptReader reader, RequestKind kind, byte[] body) {
    try (PromptWork work = PromptWork.begin(System::nanoTime, reader.trees())) {
      return reader.read(kind, body, RoutingHints.NONE, work).request();
    }
  }

  private static void waitUntilTaken(PromptPool pool) {
    Rig.until(() -> pool.waiting() == 0);
  }

  private static void waitFor(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void aBodyThatIsTooLongIsAnsweredWithoutItsPrompt() throws Exception {
    try (ModelTokenizer tokenizer = ModelTokenizer.embedded();
        PromptPool pool =
            new PromptPool(
                reader(tokenizer),
                BodyWatch.NONE,
                RemoteReader.NONE,
                new Tokenizing(1, 1, 100, 10, true, "never", 0),
                Thread::new,
                System::nanoTime)) {
      CompletableFuture<ReadRequest> answer = new CompletableFuture<>();
      pool.read(RequestKind.COMPLETION, BODY, RoutingHints.NONE, null, answer::complete);
      ReadRequest read = answer.get(Rig.PATIENCE.toSeconds(), TimeUnit.SECONDS);
      assertThat(read.request().prompt().fallback()).isEqualTo(FallbackCause.TOO_LONG);
      assertThat(read.request().model()).isEqualTo("m");
    }
  }

  @Test
  void aChatThatIsNotReadMayHaveImages() throws Exception {
    String image = "{\"type\":\"image_url\",\"image_url\":{\"url\":\"ftp://a\"}}";
    String text = "{\"type\":\"text\",\"text\":\"a\"}";
    String words = "{\"type\":\"text\",\"text\":\"" + "a".repeat(200) + "\"}";
    assertThat(hasUnreadImages(image, FallbackCause.MULTIMODAL)).isTrue();
    assertThat(hasUnreadImages(text, null)).isFalse();
    assertThat(hasUnreadImages(words + "," + image, FallbackCause.TOO_LONG)).isTrue();
    assertThat(hasUnreadImages(words, FallbackCause.TOO_LONG)).isFalse();
  }

  private static boolean hasUnreadImages(String parts, @Nullable FallbackCause fallback)
      throws Exception {
    byte[] body =
        ("{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":[" + parts + "]}]}")
            .getBytes(UTF_8);
    try (ModelTokenizer tokenizer = ModelTokenizer.embedded();
        PromptPool pool =
            pool(reader(tokenizer), new Tokenizing(1, 1, 100, 200, true, "never", 0))) {
      CompletableFuture<ReadRequest> answer = new CompletableFuture<>();
      pool.read(RequestKind.CHAT, body, RoutingHints.NONE, null, answer::complete);
      Prompt prompt = answer.get(Rig.PATIENCE.toSeconds(), TimeUnit.SECONDS).request().prompt();
      assertThat(prompt.fallback()).isEqualTo(fallback);
      return prompt.hasUnreadImages();
    }
  }

  @Test
  void whatAnEngineRendersHasUnreadImagesAllTheSame() {
    byte[] body =
        "{\"model\":\"m\",\"messages\":[{\"content\":[{\"image_url\":{\"url\":\"x\"}}]}]}"
            .getBytes(UTF_8);
    PromptReader reader =
        new PromptReader(new Tokenizers(models(Map.of()), model -> null), bodies(16));
    RemoteReader rendered =
        (kind, asked, read) ->
            CompletableFuture.completedFuture(
                new PromptResult.Tokens(List.of(new int[] {1}), PromptKeys.NONE, true, true, null));
    try (PromptPool pool =
        new PromptPool(
            reader,
            BodyWatch.NONE,
            rendered,
            new Tokenizing(1, 1, 100, 1_000, true, "never", 0),
            Thread::new,
            System::nanoTime)) {
      Prompt prompt = pool.readNow(RequestKind.CHAT, body, RoutingHints.NONE).prompt();
      assertThat(prompt.tokens()).isNotNull();
      assertThat(prompt.hasUnreadImages()).isTrue();
    }
  }

  @Test
  void aClientNeedsTheModelThatItsHeaderNamesToo() {
    PromptReader reader =
        new PromptReader(new Tokenizers(models(Map.of()), model -> null), bodies(16));
    RoutingHints hints = new RoutingHints(null, 0, null, "secret");
    byte[] body = "{\"model\":\"m\"}".getBytes(UTF_8);
    ReadRequest read = reader.readWithoutPrompt(body, null, hints, null);
    assertThat(read.models()).containsExactly("m", "secret");
    assertThat(read.request().model()).isEqualTo("secret");
    assertThat(new String(read.body(body), UTF_8)).isEqualTo("{\"model\":\"secret\"}");
  }
}
