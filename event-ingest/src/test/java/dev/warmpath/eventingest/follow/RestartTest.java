package dev.warmpath.eventingest.follow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.eventingest.Await;
import dev.warmpath.eventingest.Clocks;
import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.EngineStatus;
import dev.warmpath.eventingest.MovableClock;
import dev.warmpath.eventingest.TestEngine;
import dev.warmpath.eventingest.TestPublisher;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.eventingest.snapshot.EngineFate;
import dev.warmpath.eventingest.snapshot.IngestSnapshot;
import dev.warmpath.eventingest.snapshot.Recovery;
import dev.warmpath.eventingest.snapshot.RestoredEngines;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.kvindex.runs.RunKvIndex;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One ingest ends, another goes on with its snapshot; over real sockets. */
@Timeout(120)
final class RestartTest {

  private static final EngineId R = new EngineId("r", 0);
  private static final EngineId S = new EngineId("s", 0);
  private static final int[] A = IntStream.range(0, 17).toArray();
  private static final int[] B = IntStream.range(100, 117).toArray();
  private static final IndexLimits LIMITS = IndexLimits.unbounded(100);

  private final TestEngine engine = new TestEngine();

  @Test
  void goesOnWhereTheOtherStood() throws IOException {
    try (TestPublisher publisher = new TestPublisher(3)) {
      byte[] snapshot = snapshot(publisher, R);
      publisher.publish(engine.evict(A, 2).payload(1));
      publisher.publish(engine.serve(B).payload(2));
      try (Second second = new Second(snapshot)) {
        second.ingest.add(source(R, publisher, "m", publisher.replayEndpoint()));
        second.ingest.dropUnclaimed();
        second.awaitExact(R);

        assertThat(second.recovery.report().engines()).isEqualTo(fates(EngineFate.KEPT));
        assertThat(second.recovery.report().share()).isEqualTo(1);
        assertThat(second.predicted(R, A)).isEqualTo(8);
        assertThat(second.predicted(R, B)).isEqualTo(16);
        assertThat(second.status(R).counters()).containsEntry("batches", 2L);
      }
    }
  }

  @Test
  void restartedEngineIsLearnedAnew() throws IOException {
    byte[] snapshot;
    String endpoint;
    String replayEndpoint;
    try (TestPublisher publisher = new TestPublisher(3)) {
      endpoint = publisher.endpoint();
      replayEndpoint = publisher.replayEndpoint();
      snapshot = snapshot(publisher, R);
    }
    engine.restart().serve(B);
    try (TestPublisher publisher = new TestPublisher(endpoint, replayEndpoint, 3);
        Second second = new Second(snapshot)) {
      publisher.keep(engine.payload(0));
      second.ingest.add(source(R, publisher, "m", replayEndpoint));
      second.awaitExact(R);

      assertThat(second.recovery.report().engines()).isEqualTo(fates(EngineFate.OTHER_LIFETIME));
      assertThat(second.recovery.report().share()).isZero();
      assertThat(second.predicted(R, A)).isZero();
      assertThat(second.predicted(R, B)).isEqualTo(16);
    }
  }

  @Test
  void engineThatIsRemovedWhileItWaitsEndsItsRecovery() throws IOException {
    try (TestPublisher publisher = new TestPublisher(3)) {
      byte[] snapshot = snapshot(publisher, R);
      publisher.holdAnswers(true);
      try (Second second = new Second(snapshot)) {
        second.ingest.add(source(R, publisher, "m", publisher.replayEndpoint()));
        assertThat(second.recovery.report().engines()).isEqualTo(fates(EngineFate.WAITING));
        second.ingest.remove(R);
        second.ingest.settle();
        assertThat(second.recovery.report().engines()).isEqualTo(fates(EngineFate.NOT_CONFIGURED));
        assertThat(second.recovery.report().over()).isTrue();
      }
    }
  }

  @Test
  void whatIsToldWhileTheSnapshotIsReadIsHeardBehindIt() throws IOException {
    try (TestPublisher publisher = new TestPublisher(3)) {
      byte[] snapshot = snapshot(publisher, R, 5);
      try (Second second = Second.reading(snapshot)) {
        second.ingest.add(source(R, publisher, "m", null));
        second.ingest.dropUnclaimed();
        second.ingest.runsSince(R, 5);
        Await.until(
            "it is heard",
            () -> {
              publisher.send(new byte[] {1});
              return second.status(R).counters().get("bad_messages") > 0;
            });
        publisher.publish(engine.serve(B).payload(1));
        assertThat(second.status(R).slot()).isEqualTo(-1);
        assertThat(second.status(R).trust()).isEqualTo(Trust.CATCHING_UP);
        assertThat(second.recovery.report().begun()).isFalse();

        second.read();
        Await.until("the live batch", () -> second.predicted(R, B) == 16);
        assertThat(second.recovery.report().engines()).isEqualTo(fates(EngineFate.SUSPENDED));
        assertThat(second.predicted(R, A)).as("what it did meanwhile is not known").isZero();
      }
    }
  }

  @Test
  void engineThatIsRemovedWhileTheSnapshotIsReadIsForgotten() throws IOException {
    try (TestPublisher publisher = new TestPublisher(3)) {
      byte[] snapshot = snapshot(publisher, R);
      try (Second second = Second.reading(snapshot)) {
        second.ingest.add(source(R, publisher, "m", publisher.replayEndpoint()));
        second.ingest.remove(R);
        second.read();

        second.ingest.settle();
        assertThat(second.recovery.report().engines()).isEqualTo(fates(EngineFate.NOT_CONFIGURED));
        assertThatThrownBy(() -> second.index.stats(0))
            .isInstanceOf(IllegalArgumentException.class);
      }
    }
  }

  @Test
  void ingestEndsAlthoughTheSnapshotIsStillBeingRead() throws IOException {
    try (TestPublisher publisher = new TestPublisher(3);
        Second second = Second.reading(snapshot(publisher, R))) {
      second.ingest.add(source(R, publisher, "m", publisher.replayEndpoint()));
      second.ingest.close();
      assertThat(second.ingest.whileStill(snapshot -> {})).isFalse();
    }
  }

  @Test
  void settingTheClockForgetsNoRestoredEngine() throws IOException {
    try (TestPublisher publisher = new TestPublisher(3)) {
      byte[] snapshot = snapshot(publisher, R, 5);
      MovableClock wall = new MovableClock();
      AtomicInteger readings = new AtomicInteger();
      Clocks clocks =
          new Clocks(
              wall,
              () -> {
                readings.incrementAndGet();
                return System.nanoTime();
              });
      try (Second second = new Second(snapshot, clocks)) {
        second.ingest.add(source(R, publisher, "m", null));
        Await.until(
            "it is heard",
            () -> {
              publisher.send(new byte[] {1});
              return second.status(R).counters().get("bad_messages") > 0;
            });
        second.ingest.settle(); // from here on it waits a minute for the start of the process
        wall.set(Duration.ofDays(365));
        int before = readings.get();
        Await.until("time is looked at", () -> readings.get() > before + 20);
        second.ingest.runsSince(R, 5);
        second.ingest.settle();

        assertThat(second.recovery.report().engines()).isEqualTo(fates(EngineFate.SUSPENDED));
      }
    }
  }

  @Test
  void anotherModelIsAnotherEngine() throws IOException {
    refused(EngineFate.CHANGED, R, "other", true);
  }

  @Test
  void withoutReplayNothingCanBeProven() throws IOException {
    refused(EngineFate.NO_REPLAY, R, "m", false);
  }

  @Test
  void whatIsNotConfiguredAnyMoreIsForgotten() throws IOException {
    refused(EngineFate.NOT_CONFIGURED, S, "m", true);
  }

  private void refused(EngineFate fate, EngineId id, String model, boolean replay)
      throws IOException {
    try (TestPublisher publisher = new TestPublisher(3)) {
      byte[] snapshot = snapshot(publisher, R);
      try (Second second = new Second(snapshot)) {
        second.ingest.add(source(id, publisher, model, replay ? publisher.replayEndpoint() : null));
        second.ingest.dropUnclaimed();
        Await.until("decided", () -> second.recovery.report().over());
        assertThat(second.recovery.report().engines()).isEqualTo(fates(fate));
        if (replay) {
          second.awaitExact(id);
        }
        second.ingest.settle(); // the report may be heard before the index has dropped the blocks
        assertThat(second.index.stats(second.status(id).slot()).heldBlocks())
            .as("learned anew from the replay, or not at all")
            .isEqualTo(replay ? 4 : 0);
      }
    }
  }

  /** Of an ingest that has followed the publisher's engine through its first batch. */
  private byte[] snapshot(TestPublisher publisher, EngineId id) throws IOException {
    return snapshot(publisher, id, Double.NaN);
  }

  private byte[] snapshot(TestPublisher publisher, EngineId id, double startSeconds)
      throws IOException {
    RunKvIndex index = new RunKvIndex(LIMITS);
    try (EventIngest ingest = new EventIngest(index, Clocks.ofTheMachine())) {
      publisher.publish(engine.serve(A).payload(0));
      ingest.add(source(id, publisher, "m", publisher.replayEndpoint()));
      Await.until("exact", () -> ingest.status().get(0).trust() == Trust.EXACT);
      if (!Double.isNaN(startSeconds)) {
        ingest.runsSince(id, startSeconds);
        ingest.settle();
      }
      CompletableFuture<byte[]> bytes = new CompletableFuture<>();
      ingest.whileStill(snapshot -> bytes.complete(bytes(snapshot, index)));
      return bytes.join();
    }
  }

  private static byte[] bytes(IngestSnapshot snapshot, RunKvIndex index) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try {
      snapshot.writeTo(out, index, Integer.MAX_VALUE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return out.toByteArray();
  }

  private static Map<EngineFate, Integer> fates(EngineFate fate) {
    return Map.of(fate, 1);
  }

  private static EngineSource source(
      EngineId id, TestPublisher publisher, String model, @Nullable String replay) {
    return new EngineSource(id, model, publisher.endpoint(), false, replay, EngineDialect.VLLM);
  }

  /** The ingest that comes after. */
  private static final class Second implements AutoCloseable {
    final Recovery recovery = new Recovery(System::nanoTime);
    final RunKvIndex index;
    final EventIngest ingest;

    private final CompletableFuture<RestoredEngines> engines = new CompletableFuture<>();
    private final RestoredEngines read;

    Second(byte[] snapshot) throws IOException {
      this(snapshot, Clocks.ofTheMachine());
    }

    Second(byte[] snapshot, Clocks clocks) throws IOException {
      this(snapshot, clocks, true);
    }

    private Second(byte[] snapshot, Clocks clocks, boolean isRead) throws IOException {
      index = new RunKvIndex(LIMITS);
      IngestSnapshot written =
          IngestSnapshot.readFrom(
              new ByteArrayInputStream(snapshot),
              index,
              new IngestSnapshot.Bounds(
                  Integer.MAX_VALUE, Duration.ofDays(1), clocks.wallClock().instant()));
      read = new RestoredEngines(index, written, recovery);
      if (isRead) {
        read();
      }
      ingest = new EventIngest(index, clocks, IngestOptions.DEFAULT, engines, StreamTap.NONE);
    }

    /** One whose snapshot is not read yet. */
    static Second reading(byte[] snapshot) throws IOException {
      return new Second(snapshot, Clocks.ofTheMachine(), false);
    }

    void read() {
      engines.complete(read);
    }

    void awaitExact(EngineId id) {
      Await.until("exact", () -> status(id).trust() == Trust.EXACT);
      ingest.settle();
    }

    EngineStatus status(EngineId id) {
      return ingest.status().stream()
          .filter(status -> status.id().equals(id))
          .findFirst()
          .orElseThrow();
    }

    int predicted(EngineId id, int[] prompt) {
      ChainSpace space = status(id).space();
      if (space == null) {
        return 0;
      }
      PrefixMatches matches = new PrefixMatches();
      index.match(BlockChain.of(space, prompt, PromptKeys.NONE), matches);
      return matches.tokens(status(id).slot());
    }

    @Override
    public void close() {
      ingest.close();
    }
  }
}
