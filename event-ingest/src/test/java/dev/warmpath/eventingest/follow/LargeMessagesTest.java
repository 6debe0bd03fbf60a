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
import dev.warmpath.eventingest.follow.IngestOptions.RingLimits;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.kvindex.runs.RunKvIndex;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages larger than a ring of {@value #RING_BYTES} bytes, over sockets on the loopback. */
@Timeout(120)
final class LargeMessagesTest {

  private static final int RING_BYTES = 1 << 20;
  private static final EngineId ID = new EngineId("r", 0);
  private static final int[] A = IntStream.range(0, 17).toArray();
  private static final int[] B = IntStream.range(100, 117).toArray();

  private final RunKvIndex index = new RunKvIndex(IndexLimits.unbounded(1000));
  private final EventIngest ingest =
      new EventIngest(
          index,
          Clocks.ofTheMachine(),
          IngestOptions.DEFAULT.with(new RingLimits(4096, RING_BYTES, RING_BYTES)));
  private final TestEngine engine = new TestEngine();

  @AfterEach
  void close() {
    ingest.close();
  }

  @ParameterizedTest
  @ValueSource(ints = {RING_BYTES + 1, 3 * RING_BYTES})
  void largeMessageIsLostAndTheNextOneIsHeard(int bytes) {
    try (TestPublisher publisher = new TestPublisher(3)) {
      join(publisher);
      publisher.publish(new byte[bytes]);
      publisher.publish(engine.serve(B).payload(1));

      awaitSequence(2);
      assertThat(count("oversized_messages")).isEqualTo(1);
      assertThat(count("undecodable_batches")).isEqualTo(1);
      assertThat(status().trust()).isEqualTo(Trust.SUSPECT);
      assertThat(status().reason()).contains("batch 1 came without payload");
      assertThat(predicted(A)).as("a removal may have been in it").isZero();
      assertThat(predicted(B)).isEqualTo(16);
      assertThat(count("reconnects")).isZero();
      assertThat(count("gaps")).isZero();
    }
  }

  @Test
  void largestMessageIsTaken() {
    try (TestPublisher publisher = new TestPublisher(3)) {
      join(publisher);
      publisher.publish(new byte[RING_BYTES]);

      awaitSequence(1);
      assertThat(count("oversized_messages")).isZero();
    }
  }

  @Test
  void largeMessageOfAReplayIsLostAndTheNextOneIsHeard() {
    try (TestPublisher publisher = new TestPublisher(3)) {
      join(publisher);
      publisher.keep(new byte[3 * RING_BYTES]);
      publisher.publish(engine.serve(B).payload(1));

      awaitSequence(2);
      Await.until("the replay is over", () -> status().trust() == Trust.SUSPECT);
      assertThat(count("oversized_messages")).isPositive();
      assertThat(predicted(A)).isZero();
      assertThat(predicted(B)).isEqualTo(16);
      assertThat(count("replay_failures")).isZero();
    }
  }

  /** JeroMQ closes the connection, and does not open it again. */
  @Test
  void messageBeyondAllMeasureEndsItsConnectionAlone() {
    try (TestPublisher publisher = new TestPublisher(3)) {
      join(publisher);
      publisher.send(1, new byte[9 * RING_BYTES]);
      Await.until("the connection is gone", () -> status().trust() != Trust.EXACT);
      long before = count("bad_messages");
      Await.until(
          "the engine is heard again",
          () -> {
            publisher.send(new byte[] {1});
            return count("bad_messages") > before;
          });
      publisher.publish(engine.serve(B).payload(1));

      awaitSequence(1);
      assertThat(predicted(B)).isEqualTo(16);
      assertThat(count("oversized_messages")).isEqualTo(1);
    }
  }

  /** Follows, and makes sure that the live connection delivers: it has delivered batch 0. */
  private void join(TestPublisher publisher) {
    ingest.add(
        new EngineSource(
            ID, "m", publisher.endpoint(), false, publisher.replayEndpoint(), EngineDialect.VLLM));
    Await.until("the replay is over", () -> status().trust() == Trust.EXACT);
    Await.until(
        "the live connection delivers",
        () -> {
          publisher.send(new byte[] {1});
          return count("bad_messages") > 0;
        });
    publisher.publish(engine.serve(A).payload(0));
    awaitSequence(0);
    Await.until(
        "nothing is asked any more, as something was heard",
        () -> publisher.replays() == count("replays"));
    assertThat(predicted(A)).isEqualTo(16);
  }

  private EngineStatus status() {
    return ingest.status().get(0);
  }

  private long count(String counter) {
    return status().counters().get(counter);
  }

  private void awaitSequence(long sequence) {
    Await.until("sequence " + sequence, () -> status().lastSequence() == sequence);
    ingest.settle();
  }

  private int predicted(int[] prompt) {
    PrefixMatches matches = new PrefixMatches();
    index.match(BlockChain.of(status().space(), prompt, PromptKeys.NONE), matches);
    return matches.tokens(status().slot());
  }
}
