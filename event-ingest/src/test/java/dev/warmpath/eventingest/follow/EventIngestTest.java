package dev.warmpath.eventingest.follow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.eventingest.Await;
import dev.warmpath.eventingest.Clocks;
import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.EngineStatus;
import dev.warmpath.eventingest.EngineView;
import dev.warmpath.eventingest.MovableClock;
import dev.warmpath.eventingest.ReportedReuse;
import dev.warmpath.eventingest.StreamCounter;
import dev.warmpath.eventingest.TestEngine;
import dev.warmpath.eventingest.TestPublisher;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.eventingest.VisibleTimes;
import dev.warmpath.eventingest.follow.IngestOptions.BackoffLimits;
import dev.warmpath.eventingest.follow.IngestOptions.RingLimits;
import dev.warmpath.eventingest.stream.StreamLimits;
import dev.warmpath.eventingest.transport.ReplayLimits;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.kvindex.runs.RunKvIndex;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Real sockets on the loopback. */
@Timeout(120)
final class EventIngestTest {

  private static final EngineId ID = new EngineId("r", 0);
  private static final int[] A = IntStream.range(0, 17).toArray();
  private static final int[] B = IntStream.range(100, 117).toArray();
  private static final int[] C = IntStream.range(200, 217).toArray();

  private final KvIndex index = new RunKvIndex(IndexLimits.unbounded(1000));
  private final EventIngest ingest =
      new EventIngest(index, Clocks.ofTheMachine(), IngestOptions.DEFAULT);
  private final TestEngine engine = new TestEngine();

  @AfterEach
  void close() {
    ingest.close();
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3})
  void slowJoinerIsToldTheBeginning(int replyFrames) {
    try (TestPublisher publisher = new TestPublisher(replyFrames)) {
      engine.serve(A).serve(B).evict(A, 1);
      engine.published().forEach(publisher::publish);
      follow(publisher);

      awaitTrust(Trust.EXACT);
      assertThat(predicted(A)).isEqualTo(4);
      assertThat(predicted(B)).isEqualTo(16);
      assertThat(status().lastSequence()).isEqualTo(2);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3})
  void gapIsRepaired(int replyFrames) {
    try (TestPublisher publisher = new TestPublisher(replyFrames)) {
      join(publisher);
      engine.serve(A).evict(A, 1).serve(B);
      publisher.publish(engine.payload(0));
      awaitSequence(0);
      publisher.holdAnswers(true); // a check that runs must not bring what is missing
      publisher.keep(engine.payload(1));
      publisher.publish(engine.payload(2));
      Await.until("the gap is seen", () -> counter("gaps") == 1);
      publisher.holdAnswers(false);

      awaitSequence(2);
      awaitTrust(Trust.EXACT);
      assertThat(predicted(A)).isEqualTo(4);
      assertThat(predicted(B)).isEqualTo(16);
      assertThat(counter("gaps")).isEqualTo(1);
      assertThat(counter("lost_batches")).isZero();
    }
  }

  @Test
  void batchThatWaitsForAReplayIsNotVisibleYet() {
    try (TestPublisher publisher = new TestPublisher(3)) {
      join(publisher);
      engine.serve(A).serve(B);
      publisher.holdAnswers(true);
      publisher.keep(engine.payload(0));
      publisher.publish(engine.payload(1));
      Await.until("the batch waits", () -> status().bufferedBatches() == 1);
      long seenNanos = System.nanoTime();
      assertThat(predicted(B)).isZero();
      assertThat(visibleBatches()).isZero();

      double heldSeconds = (System.nanoTime() - seenNanos) / 1e9;
      publisher.holdAnswers(false);
      Await.until("the batch that waited is visible", () -> visibleBatches() > 0);
      awaitTrust(Trust.EXACT);
      ingest.settle();
      assertThat(predicted(B)).isEqualTo(16);
      assertThat(visibleBatches()).as("the other one never arrived live").isEqualTo(1);
      assertThat(ingest.visibleTimes().sumSeconds()).isGreaterThan(heldSeconds);
      assertThat(status().lagSeconds()).isGreaterThan(heldSeconds);
    }
  }

  private long visibleBatches() {
    VisibleTimes times = ingest.visibleTimes();
    return IntStream.range(0, times.buckets()).mapToLong(times::count).sum();
  }

  /** Its port is that of another rank, as when `ranks` or `first-rank` is wrong. */
  @Test
  void batchesOfAnotherRankAreRefused() {
    try (TestPublisher publisher = new TestPublisher(3)) {
      EngineId rankOne = new EngineId("ranked", 1);
      ingest.add(
          new EngineSource(
              rankOne,
              "m",
              publisher.endpoint(),
              false,
              publisher.replayEndpoint(),
              EngineDialect.VLLM));
      follow(publisher);
      engine.serve(A).serve(B);
      engine.published().forEach(publisher::keep); // of rank 0
      Await.until(
          "both were refused", () -> ingest.count(rankOne, StreamCounter.RANK_MISMATCHES) >= 2);
      awaitSequence(1);
      Await.until("its replay is over", () -> ingest.view(rankOne).trust() == Trust.SUSPECT);
      assertThat(predicted(B)).as("the engine of rank 0 is credited").isEqualTo(16);
      EngineStatus refused =
          ingest.status().stream()
              .filter(status -> status.id().equals(rankOne))
              .findFirst()
              .orElseThrow();
      assertThat(refused.counters().get("blocks_stored")).isZero();
      assertThat(refused.trust()).isEqualTo(Trust.SUSPECT);
      assertThat(refused.reason()).contains("data-parallel rank 0, not 1");
      assertThat(index.stats(refused.slot()).heldBlocks()).isZero();
    }
  }

  @Test
  void gapThatNobodyRepairsForgets() {
    try (TestPublisher publisher = new TestPublisher(3)) {
      join(publisher);
      engine.serve(A).evict(A, 1).serve(B);
      publisher.publish(engine.payload(0));
      awaitSequence(0);
      publisher.forgetBelow(2);
      publisher.keep(engine.payload(1));
      publisher.publish(engine.payload(2));

      awaitTrust(Trust.SUSPECT);
      assertThat(predicted(A)).isZero();
      assertThat(predicted(B)).isEqualTo(16);
    }
  }

  @Test
  void engineWithoutReplaySocketForgetsOnAGap() {
    try (TestPublisher publisher = new TestPublisher(0)) {
      ingest.add(source(publisher.endpoint(), null));
      engine.serve(A).evict(A, 1).serve(B);
      greet(publisher);
      publisher.send(2, engine.payload(2));

      awaitTrust(Trust.SUSPECT);
      assertThat(predicted(A)).isZero();
      assertThat(predicted(B)).isEqualTo(16);
      assertThat(counter("replays")).isZero();
    }
  }

  @Test
  void restartOnTheSamePortIsANewLifetime() {
    String endpoint;
    String replayEndpoint;
    try (TestPublisher publisher = new TestPublisher(3)) {
      endpoint = publisher.endpoint();
      replayEndpoint = publisher.replayEndpoint();
      join(publisher);
      engine.serve(A).serve(B);
      engine.published().forEach(publisher::publish);
      awaitSequence(1);
    }
    awaitTrust(Trust.SUSPECT);
    engine.restart().serve(C);
    try (TestPublisher publisher = new TestPublisher(endpoint, replayEndpoint, 3)) {
      engine.published().forEach(publisher::publish);

      Await.until("the new lifetime is known", () -> predicted(C) == 16);
      awaitTrust(Trust.EXACT);
      assertThat(predicted(A)).isZero();
      assertThat(predicted(B)).isZero();
      assertThat(counter("restarts")).isPositive();
    }
  }

  @Test
  void engineThatComesLateIsFound() {
    String endpoint;
    String replayEndpoint;
    try (TestPublisher publisher = new TestPublisher(3)) {
      endpoint = publisher.endpoint();
      replayEndpoint = publisher.replayEndpoint();
    }
    ingest.add(source(endpoint, replayEndpoint));
    assertThat(status().trust()).isEqualTo(Trust.NONE);
    engine.serve(A);
    try (TestPublisher publisher = new TestPublisher(endpoint, replayEndpoint, 3)) {
      engine.published().forEach(publisher::publish);

      Await.until("its batch is heard", () -> predicted(A) == 16);
      awaitTrust(Trust.EXACT);
    }
  }

  @Test
  void messagesOfWrongShapeAreCountedAndTheRestIsHeard() {
    try (TestPublisher publisher = new TestPublisher(3)) {
      join(publisher);
      long before = counter("bad_messages");
      engine.serve(A);
      publisher.send(new byte[0]);
      publisher.send(new byte[0], new byte[8]);
      publisher.send(new byte[0], new byte[7], engine.payload(0));
      publisher.send(new byte[0], new byte[8], engine.payload(0), new byte[0]);
      publisher.publish(engine.payload(0));

      awaitSequence(0);
      assertThat(predicted(A)).isEqualTo(16);
      assertThat(counter("bad_messages")).isGreaterThanOrEqualTo(before + 4);
    }
  }

  @Test
  void numbersBeyondAllMeasureOverflowNothing() {
    long huge = Long.MAX_VALUE - 9;
    try (TestPublisher publisher = new TestPublisher(0)) {
      ingest.add(source(publisher.endpoint(), null));
      engine.serve(A).serve(B).serve(C);
      awaitFirst(ingest, publisher);
      for (int lifetime = 1; lifetime <= 2; lifetime++) {
        publisher.send(huge, engine.payload(1));
        awaitSequence(huge);
        publisher.send(0, engine.payload(lifetime == 1 ? 2 : 0)); // another process
        awaitSequence(0);
      }
      assertThat(counter("lost_batches")).isEqualTo(Long.MAX_VALUE);

      long before = counter("bad_messages");
      publisher.send(Long.MAX_VALUE, engine.payload(1));
      publisher.send(-1, engine.payload(1));
      publisher.send(1, engine.payload(1));
      awaitSequence(1);
      assertThat(counter("bad_messages")).isGreaterThanOrEqualTo(before + 2);
      assertThat(status().trust()).isEqualTo(Trust.EXACT);
      assertThat(predicted(B)).isEqualTo(16);
    }
  }

  @Test
  void garbagePayloadForgetsAndGoesOn() {
    try (TestPublisher publisher = new TestPublisher(3)) {
      join(publisher);
      engine.serve(A).garbage().serve(B);
      engine.published().forEach(publisher::publish);

      awaitSequence(2);
      assertThat(predicted(A)).isZero();
      assertThat(predicted(B)).isEqualTo(16);
      assertThat(counter("undecodable_batches")).isEqualTo(1);
      awaitTrust(Trust.SUSPECT);
    }
  }

  @Test
  void engineMayConnectToUs() {
    ingest.add(new EngineSource(ID, "m", "tcp://127.0.0.1:*", true, null, EngineDialect.VLLM));
    Await.until("bound", () -> ingest.boundEndpoint(ID) != null);
    String endpoint = Objects.requireNonNull(ingest.boundEndpoint(ID));
    engine.serve(A);
    try (TestPublisher publisher = TestPublisher.connecting(endpoint)) {
      Await.until(
          "the first batch is heard",
          () -> {
            publisher.send(0, engine.payload(0));
            return status().lastSequence() == 0;
          });
      ingest.settle();
      assertThat(predicted(A)).isEqualTo(16);
      assertThat(ingest.view(ID))
          .isEqualTo(new EngineView(status().slot(), status().space(), Trust.EXACT));
    }
  }

  @Test
  void removedEngineIsForgotten() {
    try (TestPublisher publisher = new TestPublisher(3)) {
      join(publisher);
      engine.serve(A);
      publisher.publish(engine.payload(0));
      awaitSequence(0);
      int slot = status().slot();

      ingest.remove(ID);
      ingest.settle();
      assertThat(ingest.status()).isEmpty();
      assertThat(ingest.view(ID)).isNull();
      assertThatThrownBy(() -> index.stats(slot)).isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void burstBeyondTheQueueIsMadeUpFor() {
    try (TestPublisher publisher = new TestPublisher(3);
        EventIngest narrow =
            new EventIngest(
                new RunKvIndex(IndexLimits.unbounded(1000)),
                Clocks.ofTheMachine(),
                IngestOptions.DEFAULT.with(new RingLimits(2, 1 << 20, 1 << 20)))) {
      narrow.add(source(publisher.endpoint(), publisher.replayEndpoint()));
      publisher.publish(engine.serve(A).payload(0));
      Await.until("it is heard", () -> narrow.status().get(0).trust() == Trust.EXACT);
      CountDownLatch mayGoOn = hold(narrow);
      for (int i = 1; i < 2000; i++) {
        publisher.publish(engine.serve(IntStream.range(i, i + 9).toArray()).payload(i));
      }
      Await.until("it is too much", () -> counter(narrow, "queue_overflows") > 0);
      mayGoOn.countDown();

      Await.until(
          "all is known",
          () -> {
            EngineStatus now = narrow.status().get(0);
            return now.lastSequence() == 1999 && now.trust() == Trust.EXACT;
          });
    }
  }

  @Test
  void liveBatchesDoNotWaitForADeadReplaySocket() {
    IngestOptions asksAllTheTime =
        new IngestOptions(
            1,
            RingLimits.DEFAULT,
            new ReplayLimits(1, Duration.ofMillis(50), Duration.ofSeconds(60), 1_000, 1 << 20),
            new BackoffLimits(300_000, 300_000),
            new StreamLimits(64, 1 << 20, 1, Duration.ZERO, Duration.ZERO));
    KvIndex fresh = new RunKvIndex(IndexLimits.unbounded(1000));
    try (TestPublisher publisher = new TestPublisher(0);
        EventIngest following = new EventIngest(fresh, Clocks.ofTheMachine(), asksAllTheTime)) {
      following.add(source(publisher.endpoint(), publisher.replayEndpoint()));
      Await.until("it is asked again", () -> counter(following, "replays") == 2);
      engine.serve(A);
      Await.until(
          "a batch is heard while it is",
          () -> {
            publisher.send(0, engine.payload(0));
            return following.status().get(0).lastSequence() == 0;
          });
      publisher.send(1, engine.serve(B).payload(1));

      Await.until("so is the next", () -> following.status().get(0).lastSequence() == 1);
      assertThat(following.status().get(0).trust()).isEqualTo(Trust.EXACT);
      assertThat(following.status().get(0).bufferedBatches()).isZero();
      assertThat(counter(following, "replay_failures")).as("it is still asked").isEqualTo(1);
    }
  }

  @Test
  void engineThatCannotBeFollowedLeavesTheOthersAlone() {
    EngineId other = new EngineId("nowhere", 0);
    ingest.add(new EngineSource(other, "m", "nonsense://x", false, null, EngineDialect.VLLM));
    try (TestPublisher publisher = new TestPublisher(3)) {
      engine.serve(A);
      publisher.publish(engine.payload(0));
      follow(publisher);

      awaitTrust(Trust.EXACT);
      assertThat(predicted(A)).isEqualTo(16);
      ingest.remove(other);
    }
  }

  @Test
  void engineIsFollowedOnce() {
    ingest.add(source("tcp://127.0.0.1:1", null));
    assertThatThrownBy(() -> ingest.add(source("tcp://127.0.0.1:1", null)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("r/0");
  }

  @Test
  void whatAnswersTellOfTheCacheIsBounded() throws Exception {
    try (TestPublisher publisher = new TestPublisher(3)) {
      join(publisher);
      engine.serve(A);
      publisher.publish(engine.payload(0));
      awaitSequence(0);
      CountDownLatch mayGoOn = hold(ingest);
      BlockChain prompt =
          BlockChain.of(Objects.requireNonNull(status().space()), A, PromptKeys.NONE);
      for (int i = 0; i < RingLimits.DEFAULT.messages() + 3; i++) {
        ingest.reused(ID, new ReportedReuse(prompt, 0, 0, System.nanoTime()));
      }
      assertThat(status().ring().messages()).isEqualTo(RingLimits.DEFAULT.messages());
      mayGoOn.countDown();
      ingest.settle();
      assertThat(counter("reuses_skipped")).isEqualTo(3);
    }
  }

  /** An engine is suspended while the report of an answer to an earlier request waits. */
  @Test
  void reportThatWaitsForTheWriterConfirmsNothingSuspendedMeanwhile() {
    AtomicLong nanos = new AtomicLong();
    try (TestPublisher publisher = new TestPublisher(0);
        EventIngest ticking =
            new EventIngest(index, new Clocks(new MovableClock(), nanos::incrementAndGet))) {
      ticking.add(source(publisher.endpoint(), null));
      engine.serve(A).serve(B).serve(C);
      awaitFirst(ticking, publisher);
      CountDownLatch mayGoOn = hold(ticking);
      publisher.send(2, engine.payload(2));
      Await.until("the gap waits", () -> ticking.status().get(0).ring().messages() == 1);
      ticking.reused(ID, reuse(ticking, nanos.incrementAndGet()));
      mayGoOn.countDown();
      ticking.settle();
      assertThat(ticking.status().get(0).trust()).isEqualTo(Trust.SUSPECT);
      assertThat(predicted(ticking, A)).isZero();

      ticking.reused(ID, reuse(ticking, nanos.incrementAndGet()));
      ticking.settle();
      assertThat(predicted(ticking, A)).as("asked and answered later").isEqualTo(16);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {-365, 365})
  void settingTheClockConfirmsNothingAndHidesNothing(int days) {
    MovableClock clock = new MovableClock();
    try (TestPublisher publisher = new TestPublisher(0);
        EventIngest set = new EventIngest(index, clock.clocks())) {
      set.add(source(publisher.endpoint(), null));
      engine.serve(A).serve(B).serve(C);
      awaitFirst(set, publisher);
      long beforeNanos = clock.getAsLong();
      clock.pass(Duration.ofMillis(1));
      publisher.send(2, engine.payload(2));
      Await.until("the gap", () -> set.status().get(0).trust() == Trust.SUSPECT);
      set.settle();
      assertThat(predicted(set, A)).isZero();

      clock.set(Duration.ofDays(days));
      set.reused(ID, reuse(set, beforeNanos));
      set.settle();
      assertThat(predicted(set, A)).isZero();
      clock.pass(Duration.ofMillis(1));
      set.reused(ID, reuse(set, clock.getAsLong()));
      set.settle();
      assertThat(predicted(set, A)).isEqualTo(16);
      assertThat(set.status().get(0).since())
          .as("a millisecond ago")
          .isEqualTo(clock.instant().minusMillis(1));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {-365, 365})
  void settingTheClockPutsOffNoQuestion(int days) {
    MovableClock clock = new MovableClock();
    try (TestPublisher publisher = new TestPublisher(3);
        EventIngest set = new EventIngest(index, clock.clocks())) {
      set.add(source(publisher.endpoint(), publisher.replayEndpoint()));
      engine.serve(A).serve(B);
      publisher.keep(engine.payload(0));
      awaitFirst(set, publisher);
      clock.set(Duration.ofDays(days));
      publisher.keep(engine.payload(1)); // lost, and nothing behind it shows it
      Await.until(
          "silence makes the router ask",
          () -> {
            clock.pass(Duration.ofMillis(100));
            return set.status().get(0).lastSequence() == 1;
          });
      Await.until("the answer is over", () -> set.status().get(0).trust() == Trust.EXACT);
      assertThat(predicted(set, B)).isEqualTo(16);
    }
  }

  private void awaitFirst(EventIngest following, TestPublisher publisher) {
    Await.until(
        "the live connection delivers",
        () -> {
          publisher.send(new byte[] {1});
          return counter(following, "bad_messages") > 0;
        });
    publisher.send(0, engine.payload(0));
    Await.until(
        "batch 0 is applied",
        () -> {
          EngineStatus status = following.status().get(0);
          return status.lastSequence() == 0 && status.trust() == Trust.EXACT;
        });
    following.settle();
    assertThat(predicted(following, A)).isEqualTo(16);
  }

  private static ReportedReuse reuse(EventIngest following, long dispatchedNanos) {
    ChainSpace space = Objects.requireNonNull(following.status().get(0).space());
    return new ReportedReuse(BlockChain.of(space, A, PromptKeys.NONE), 16, -1, dispatchedNanos);
  }

  private int predicted(EventIngest following, int[] prompt) {
    EngineStatus status = following.status().get(0);
    PrefixMatches matches = new PrefixMatches();
    ChainSpace space = Objects.requireNonNull(status.space());
    index.match(BlockChain.of(space, prompt, PromptKeys.NONE), matches);
    return matches.tokens(status.slot());
  }

  /** The writer stands still until what this returns is counted down. */
  private static CountDownLatch hold(EventIngest following) {
    CountDownLatch held = new CountDownLatch(1);
    CountDownLatch mayGoOn = new CountDownLatch(1);
    following.whileStill(snapshot -> {
      held.countDown();
      awaitQuietly(mayGoOn);
    });
    awaitQuietly(held);
    return mayGoOn;
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void follow(TestPublisher publisher) {
    ingest.add(source(publisher.endpoint(), publisher.replayEndpoint()));
  }

  /** Follows, and makes sure that the live connection delivers. */
  private void join(TestPublisher publisher) {
    follow(publisher);
    awaitTrust(Trust.EXACT);
    Await.until(
        "the live connection delivers",
        () -> {
          publisher.send(new byte[] {1});
          return counter("bad_messages") > 0;
        });
  }

  private void greet(TestPublisher publisher) {
    Await.until(
        "batch 0 is heard",
        () -> {
          publisher.send(0, engine.payload(0));
          return status().lastSequence() == 0;
        });
  }

  private static EngineSource source(String endpoint, @Nullable String replayEndpoint) {
    return new EngineSource(ID, "m", endpoint, false, replayEndpoint, EngineDialect.VLLM);
  }

  private EngineStatus status() {
    return ingest.status().stream()
        .filter(status -> status.id().equals(ID))
        .findFirst()
        .orElseThrow();
  }

  private long counter(String name) {
    return status().counters().get(name);
  }

  private static long counter(EventIngest following, String name) {
    return following.status().get(0).counters().get(name);
  }

  private void awaitTrust(Trust trust) {
    Await.until("trust " + trust, () -> status().trust() == trust);
  }

  private void awaitSequence(long sequence) {
    Await.until("sequence " + sequence, () -> status().lastSequence() == sequence);
    ingest.settle();
  }

  private int predicted(int[] prompt) {
    var space = status().space();
    if (space == null) {
      return 0;
    }
    PrefixMatches matches = new PrefixMatches();
    index.match(BlockChain.of(space, prompt, PromptKeys.NONE), matches);
    return matches.tokens(status().slot());
  }
}
