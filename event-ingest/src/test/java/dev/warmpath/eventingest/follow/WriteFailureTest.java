package dev.warmpath.eventingest.follow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.Await;
import dev.warmpath.eventingest.Clocks;
import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.EngineStatus;
import dev.warmpath.eventingest.TestEngine;
import dev.warmpath.eventingest.TestPublisher;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.eventingest.snapshot.Recovery;
import dev.warmpath.eventingest.snapshot.RestoredEngines;
import dev.warmpath.eventingest.wire.StreamMessage;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.kvindex.runs.RunKvIndex;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A bug of ours behind real sockets: nothing that it may have spoilt is believed. */
@Timeout(120)
final class WriteFailureTest {

  private static final EngineId ID = new EngineId("r", 0);
  private static final EngineId OTHER = new EngineId("s", 0);
  private static final int[] A = IntStream.range(0, 17).toArray();
  private static final int[] B = IntStream.range(100, 117).toArray();
  private static final int[] C = IntStream.range(200, 217).toArray();

  /** One block longer than the others. */
  private static final int[] POISON = IntStream.range(300, 321).toArray();

  private final KvIndex index = new RunKvIndex(IndexLimits.unbounded(1000));
  private final EventIngest ingest = new EventIngest(failingIndex(), Clocks.ofTheMachine());
  private final TestEngine engine = new TestEngine();

  /** What a call of this name and with these arguments throws behind its work, or null. */
  private volatile BiFunction<String, Object[], @Nullable Throwable> failure =
      (method, arguments) -> null;

  @AfterEach
  void close() {
    ingest.close();
  }

  static Stream<Throwable> failures() {
    return Stream.of(
        new IllegalStateException("a bug, on purpose"),
        new AssertionError("a bug, on purpose"),
        new StackOverflowError("on purpose"),
        new OutOfMemoryError("on purpose"));
  }

  @ParameterizedTest
  @MethodSource("failures")
  void engineIsForgottenAndLearnedAnew(Throwable thrown) {
    try (TestPublisher publisher = new TestPublisher(3)) {
      join(publisher, ID);
      failOnce(thrown);
      publisher.publish(engine.serve(B).payload(1));
      publisher.publish(engine.serve(C).payload(2));

      Await.until("it failed", () -> counter(ID, "write_failures") == 1);
      Await.until("all is known again", () -> isExact(ID) && status(ID).lastSequence() == 2);
      ingest.settle();
      assertThat(predicted(ID, A)).isEqualTo(16);
      assertThat(predicted(ID, B)).isEqualTo(16);
      assertThat(predicted(ID, C)).isEqualTo(16);
      assertThat(counter(ID, "clears")).isPositive();
      assertThat(counter(ID, "restarts")).as("it is the same process").isZero();
    }
  }

  @Test
  void engineWithoutReplaySocketIsForgotten() {
    try (TestPublisher publisher = new TestPublisher(0)) {
      ingest.add(source(ID, publisher.endpoint(), null));
      engine.serve(A);
      Await.until(
          "batch 0 is heard",
          () -> {
            publisher.send(0, engine.payload(0));
            return status(ID).lastSequence() == 0;
          });
      failOnce(new AssertionError("a bug, on purpose"));
      publisher.send(1, engine.serve(B).payload(1));
      publisher.send(2, engine.serve(C).payload(2));

      Await.until("it goes on", () -> status(ID).lastSequence() == 2);
      ingest.settle();
      assertThat(status(ID).trust()).isEqualTo(Trust.SUSPECT);
      assertThat(predicted(ID, A)).isZero();
      assertThat(predicted(ID, B)).isZero();
      assertThat(predicted(ID, C)).isEqualTo(16);
      assertThat(counter(ID, "write_failures")).isEqualTo(1);
    }
  }

  @Test
  void batchThatAlwaysFailsIsReplayedOnceAndLeavesTheOthersAlone() {
    try (TestPublisher publisher = new TestPublisher(3);
        TestPublisher others = new TestPublisher(3)) {
      join(publisher, ID);
      publisher.send(0, engine.payload(0));
      Await.until("it is heard live, and no check follows", () -> counter(ID, "duplicates") == 1);
      long replays = counter(ID, "replays");
      others.publish(engine.payload(0));
      ingest.add(source(OTHER, others.endpoint(), others.replayEndpoint()));
      Await.until("the other engine is known", () -> isExact(OTHER));
      failure =
          (method, arguments) ->
              method.equals("stored") && ((StoredBlocks) arguments[1]).count() == 5
                  ? new AssertionError("a bug, on purpose")
                  : null;
      publisher.publish(engine.serve(POISON).payload(1));

      Await.until("the replay fails too", () -> counter(ID, "write_failures") == 2);
      publisher.publish(engine.serve(C).payload(2));
      Await.until("what follows is heard", () -> status(ID).trust() == Trust.SUSPECT);
      assertThat(predicted(ID, C)).isEqualTo(16);
      assertThat(predicted(ID, A)).isZero();
      assertThat(counter(ID, "replays")).as("one after the failure").isEqualTo(replays + 1);
      assertThat(isExact(OTHER)).isTrue();
      assertThat(predicted(OTHER, A)).isEqualTo(16);
    }
  }

  @Test
  void writerThatCannotForgetAnEngineEndsVisibly() {
    try (TestPublisher publisher = new TestPublisher(3)) {
      join(publisher, ID);
      assertThat(ingest.isWriting()).isTrue();
      failure =
          (method, arguments) ->
              Stream.of("stored", "cleared").anyMatch(method::equals)
                  ? new OutOfMemoryError("on purpose")
                  : null;
      publisher.publish(engine.serve(B).payload(1));

      Await.until("the writer ends", () -> !ingest.isWriting());
      Await.until("nothing is believed", () -> status(ID).trust() == Trust.NONE);
      assertThat(status(ID).reason()).isEqualTo("the index writer has ended");
      assertThat(Objects.requireNonNull(ingest.view(ID)).trust()).isEqualTo(Trust.NONE);
      double stalled = ingest.writerStalledSeconds();
      Await.until("the watchdog counts", () -> ingest.writerStalledSeconds() > stalled);
      Await.until("nothing piles up", () -> !ingest.whileStill(snapshot -> {}));
      ingest.recovered(ID);
      assertThat(status(ID).ring().commands()).isZero();
    }
  }

  @Test
  void errorOnASocketsThreadOpensTheConnectionAnew() {
    AtomicBoolean fails = new AtomicBoolean();
    StreamTap tap =
        new StreamTap() {
          @Override
          public void live(EngineId id, byte[] topic, StreamMessage message) {
            if (fails.getAndSet(false)) {
              throw new OutOfMemoryError("on purpose");
            }
          }
        };
    try (TestPublisher publisher = new TestPublisher(3);
        EventIngest tapped =
            new EventIngest(
                index,
                Clocks.ofTheMachine(),
                IngestOptions.DEFAULT,
                CompletableFuture.completedFuture(
                    new RestoredEngines(index, null, new Recovery(System::nanoTime))),
                tap)) {
      publisher.publish(engine.serve(A).payload(0));
      tapped.add(source(ID, publisher.endpoint(), publisher.replayEndpoint()));
      Await.until(
          "the live connection delivers",
          () -> {
            publisher.send(new byte[] {1});
            EngineStatus status = tapped.status().get(0);
            return status.trust() == Trust.EXACT && status.counters().get("bad_messages") > 0;
          });
      fails.set(true);
      publisher.publish(engine.serve(B).payload(1));

      Await.until(
          "it is connected again", () -> tapped.status().get(0).counters().get("reconnects") == 1);
      Await.until("and known", () -> tapped.status().get(0).lastSequence() == 1);
    }
  }

  private void failOnce(Throwable thrown) {
    failure =
        (method, arguments) -> {
          if (!method.equals("stored")) {
            return null;
          }
          failure = (anyMethod, any) -> null;
          return thrown;
        };
  }

  /** Follows an engine whose first batch, with A, is known. */
  private void join(TestPublisher publisher, EngineId id) {
    publisher.publish(engine.serve(A).payload(0));
    ingest.add(source(id, publisher.endpoint(), publisher.replayEndpoint()));
    Await.until(
        "the live connection delivers",
        () -> {
          publisher.send(new byte[] {1});
          return isExact(id) && counter(id, "bad_messages") > 0;
        });
    assertThat(predicted(id, A)).isEqualTo(16);
  }

  private KvIndex failingIndex() {
    return (KvIndex)
        Proxy.newProxyInstance(
            KvIndex.class.getClassLoader(), new Class<?>[] {KvIndex.class}, this::call);
  }

  private @Nullable Object call(Object proxy, Method method, Object[] arguments) throws Throwable {
    try {
      Object result = method.invoke(index, arguments);
      Throwable thrown = failure.apply(method.getName(), arguments);
      if (thrown != null) {
        throw thrown;
      }
      return result;
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  private static EngineSource source(EngineId id, String endpoint, @Nullable String replay) {
    return new EngineSource(id, "m", endpoint, false, replay, EngineDialect.VLLM);
  }

  private EngineStatus status(EngineId id) {
    return ingest.status().stream()
        .filter(status -> status.id().equals(id))
        .findFirst()
        .orElseThrow();
  }

  private boolean isExact(EngineId id) {
    return status(id).trust() == Trust.EXACT;
  }

  private long counter(EngineId id, String name) {
    return status(id).counters().getOrDefault(name, 0L);
  }

  private int predicted(EngineId id, int[] prompt) {
    ChainSpace space = status(id).space();
    if (space == null) {
      return 0;
    }
    PrefixMatches matches = new PrefixMatches();
    index.match(BlockChain.of(space, prompt, PromptKeys.NONE), matches);
    return matches.tokens(status(id).slot());
  }
}
