package dev.warmpath.router.prompt;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.config.RouterConfig.Tokenizing;
import dev.warmpath.router.dispatch.RoutingHints;
import dev.warmpath.router.prompt.PromptPool.BodyWatch;
import dev.warmpath.router.prompt.PromptPool.RemoteReader;
import dev.warmpath.router.rig.Rig;
import dev.warmpath.tokenizer.ModelTokenizer;
import dev.warmpath.tokenizer.RequestKind;
import dev.warmpath.tokenizer.body.FallbackCause;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * The thread of a test is the event loop. Its clock moves by a step whenever it is looked at, and
 * by a microsecond for each token that the native library has made meanwhile.
 */
class PromptsOnLoopsTest {

  private static final long STEP_NANOS = 10_000;
  private static final long NANOS_PER_TOKEN = 1_000;

  /** Of noise with three tokens a character, before anything is known of such noise. */
  private static final long LONGEST_CALL_NANOS = 3 * 64 * NANOS_PER_TOKEN;

  private static final int BODY_LIMIT = 16 << 20;
  private static final String KNOWN = "the same words as before, which the memory holds by now";

  private final Thread loopThread = Thread.currentThread();
  private final AtomicLong loopNanos = new AtomicLong();
  private final AtomicLong poolNanos = new AtomicLong();
  private final AtomicLong clock = new AtomicLong();
  private final LoopBudget loop = new LoopBudget(clock::get);
  private final ReadingTime cost = new ReadingTime();
  private final CountDownLatch poolStuck = new CountDownLatch(2);
  private final CountDownLatch poolFree = new CountDownLatch(1);
  private final ModelTokenizer tokenizer = ModelTokenizer.embedded();
  private long nativeTokens;
  private volatile long stepNanos = STEP_NANOS;
  private final PromptPool pool =
      new PromptPool(
          new PromptReader(new Tokenizers(source(), model -> null), new BodyParser(64, 1 << 20)),
          BodyWatch.NONE,
          RemoteReader.NONE,
          new Tokenizing(2, 1_000, 1_000, BODY_LIMIT, true, "never", 0),
          Thread::new,
          this::runningNanos);

  @AfterEach
  void close() {
    poolFree.countDown();
    pool.close();
    tokenizer.close();
  }

  private long runningNanos() {
    if (Thread.currentThread() != loopThread) {
      return poolNanos.addAndGet(stepNanos);
    }
    long tokens = tokenizer.encodeCounts().nativeTokens();
    long madeSince = tokens - nativeTokens;
    nativeTokens = tokens;
    return loopNanos.addAndGet(stepNanos + NANOS_PER_TOKEN * madeSince);
  }

  private Tokenizers.Source source() {
    return new Tokenizers.Source() {
      @Override
      public Tokenizers.Local of(String model) {
        return new Tokenizers.Local(model, tokenizer, FallbackCause.LOADING, cost);
      }

      @Override
      public Tokenizers.Local only() {
        return of("m");
      }
    };
  }

  /** What was read, and the thread that answered. */
  private record Answer(ReadRequest read, Thread thread) {}

  private CompletableFuture<Answer> read(byte[] body) {
    clock.addAndGet(TimeUnit.MILLISECONDS.toNanos(100)); // the budget is full again
    CompletableFuture<Answer> answer = new CompletableFuture<>();
    pool.read(
        RequestKind.COMPLETION,
        body,
        RoutingHints.NONE,
        loop,
        read -> answer.complete(new Answer(read, Thread.currentThread())));
    return answer;
  }

  private boolean isReadHere(String text) {
    CompletableFuture<Answer> answer = read(body(text));
    return answer.isDone() && await(answer).thread() == loopThread;
  }

  private static Answer await(CompletableFuture<Answer> answer) {
    Rig.until(answer::isDone);
    return answer.join();
  }

  private static byte[] body(String text) {
    return ("{\"model\":\"m\",\"prompt\":\"" + text + "\"}").getBytes(UTF_8);
  }

  /** The first prompts, read by the pool. */
  private void learn() {
    for (int i = 0; i < ReadingTime.FIRST_PROMPTS; i++) {
      assertThat(await(read(body(KNOWN))).thread()).isNotEqualTo(loopThread);
    }
    Rig.until(cost::isKnown);
  }

  private void assertRead(int onLoops, int inPool, int handedOver) {
    assertThat(pool.readOnLoops()).isEqualTo(onLoops);
    assertThat(pool.readInPool()).isEqualTo(inPool);
    assertThat(pool.handedOver()).isEqualTo(handedOver);
  }

  private static void waitFor(CountDownLatch latch) {
    try {
      assertThat(latch.await(Rig.PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void firstPromptsAreThePoolsAndShortOnesAfterThemTheLoops() {
    learn();
    for (int i = 0; i < 10; i++) {
      assertThat(isReadHere(KNOWN)).isTrue();
    }
    assertRead(10, 0, ReadingTime.FIRST_PROMPTS);
  }

  @Test
  void promptsThatHaveBecomeSlowLeaveTheLoopAndComeBack() {
    learn();
    stepNanos = 10 * PromptWork.LOOP_NANOS;
    int slow = 0;
    while (isReadHere(KNOWN)) {
      assertThat(slow++).as("slow prompts in a row").isLessThan(100);
    }
    stepNanos = STEP_NANOS;
    Rig.until(() -> isReadHere(KNOWN));
  }

  @Test
  void loopGivesPromptsOnlyAPartOfItsTime() {
    learn();
    long before = clock.get();
    int here = 0;
    for (int i = 0; i < 1_000; i++) {
      CompletableFuture<Answer> answer = new CompletableFuture<>();
      pool.read(
          RequestKind.COMPLETION,
          body(KNOWN),
          RoutingHints.NONE,
          loop,
          read -> answer.complete(new Answer(read, Thread.currentThread())));
      here += await(answer).thread() == loopThread ? 1 : 0;
      clock.addAndGet(STEP_NANOS); // each takes all of the loop's time
    }
    long passed = clock.get() - before;
    assertThat(here * STEP_NANOS)
        .isLessThanOrEqualTo((long) (LoopBudget.MOST_NANOS + LoopBudget.SHARE * passed))
        .isGreaterThan((long) (LoopBudget.SHARE * passed));
  }

  /**
   * Text without a place to cut it, of which nothing is remembered, or that is many unknown words.
   */
  private static List<String> hostileTexts() {
    Random random = new Random(3);
    List<String> texts = new ArrayList<>();
    for (int chars : new int[] {65, 1_000, 8_000}) {
      texts.add("x".repeat(chars));
      texts.add("{".repeat(chars));
      texts.add(letters(random, chars, 'a', 26));
      texts.add(letters(random, chars / 3, 0x4e00, 5_000));
      StringBuilder words = new StringBuilder(KNOWN);
      while (words.length() < chars) {
        words.append(' ').append(letters(random, 7, 'a', 26)).append(' ').append(KNOWN);
      }
      texts.add(words.substring(0, chars));
    }
    return texts;
  }

  private static String letters(Random random, int count, int first, int kinds) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < count; i++) {
      text.append((char) (first + random.nextInt(kinds)));
    }
    return text.toString();
  }

  /** All threads of the pool are held up. */
  private void stickPool() {
    for (int i = 0; i < 2; i++) {
      pool.read(
          RequestKind.COMPLETION,
          body(KNOWN),
          RoutingHints.NONE,
          null,
          read -> {
            poolStuck.countDown();
            waitFor(poolFree);
          });
    }
    waitFor(poolStuck);
  }

  @Test
  void hostileBodiesNeitherHoldTheLoopNorStopShortOnes() {
    learn();
    stickPool();
    List<byte[]> hostile = new ArrayList<>();
    hostileTexts().forEach(text -> hostile.add(body(text)));
    hostile.add(body("{\\\"a\\\":".repeat(1_000)));
    hostile.add(("{\"model\":\"m\",\"prompt\":[" + "1,".repeat(3_990) + "1]}").getBytes(UTF_8));
    for (int bytes : new int[] {8_193, 100_000, 1_000_000, 10_000_000}) {
      hostile.add(body(KNOWN + " ".repeat(bytes)));
    }
    List<CompletableFuture<Answer>> answers = new ArrayList<>();
    for (byte[] body : hostile) {
      long before = loopNanos.get();
      answers.add(read(body));
      assertThat(loopNanos.get() - before)
          .as("time of the loop for %d bytes", body.length)
          .isLessThanOrEqualTo(PromptWork.LOOP_NANOS + LONGEST_CALL_NANOS);
      assertThat(isReadHere(KNOWN)).as("a short one after %d bytes", body.length).isTrue();
    }
    assertThat(answers.stream().filter(CompletableFuture::isDone).count())
        .as("hostile ones that the loop has read")
        .isLessThan(hostile.size() / 4);
    poolFree.countDown();
    for (CompletableFuture<Answer> answer : answers) {
      assertThat(await(answer).read().request().prompt().fallback())
          .isIn(null, FallbackCause.UNCUTTABLE_TEXT);
    }
    Rig.until(() -> pool.trees().bytes() == 0);
  }

  @Test
  void promptThatIsGivenUpAfterItsHandOverGivesItsRoomBack() {
    learn();
    stickPool();
    Rig.until(() -> pool.trees().bytes() <= 2 << 16);
    long held = pool.trees().bytes();
    CompletableFuture<Answer> answer = new CompletableFuture<>();
    PromptPool.Ticket ticket =
        pool.read(
            RequestKind.COMPLETION,
            body("x".repeat(4_000)),
            RoutingHints.NONE,
            loop,
            read -> answer.complete(new Answer(read, Thread.currentThread())));
    assertThat(pool.trees().bytes()).isGreaterThan(held);
    ticket.giveUp(FallbackCause.DEADLINE);
    assertThat(pool.trees().bytes()).isEqualTo(held);
    assertThat(await(answer).read().request().prompt().fallback())
        .isEqualTo(FallbackCause.DEADLINE);
  }

  @Test
  void templateThatARequestBringsIsThePools() {
    learn();
    byte[] body =
        "{\"model\":\"m\",\"messages\":[],\"chat_template\":\"{% for i in range(1000) %}x{% endfor %}\"}"
            .getBytes(UTF_8);
    CompletableFuture<Answer> answer = new CompletableFuture<>();
    pool.read(
        RequestKind.CHAT,
        body,
        RoutingHints.NONE,
        loop,
        read -> answer.complete(new Answer(read, Thread.currentThread())));
    assertThat(await(answer).thread()).isNotEqualTo(loopThread);
  }
}
