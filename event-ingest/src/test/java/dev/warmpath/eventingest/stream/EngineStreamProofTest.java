package dev.warmpath.eventingest.stream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.snapshot.StreamSnapshot;
import java.time.Duration;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What shows that the process is the same, and what does not. */
class EngineStreamProofTest {

  private static final int[] A = IntStream.range(0, 17).toArray();
  private static final int[] B = IntStream.range(100, 117).toArray();
  private static final double START = 1000.5;
  private static final double LATER = 2000.5;

  @Test
  void aReplayThatBeginsTooLateDoesNotShowTheProcess() {
    StreamFixture fixture = restartedUnseen();
    IntStream.range(0, 5).forEach(i -> fixture.engine.serve(B));
    fixture.stream.connected();
    fixture.answer(fixture.engine.published(), 2);
    hit(fixture);
    assertThat(fixture.predicted(A)).isZero();
    assertThat(fixture.stream.snapshot()).isNull();

    fixture.engine.serve(B).serve(B);
    fixture.deliverLast();
    fixture.answer();
    hit(fixture);
    assertThat(fixture.predicted(A)).as("a batch of after the loss shows nothing").isZero();

    fixture.stream.runsSince(START);
    fixture.stream.runsSince(START);
    hit(fixture);
    assertThat(fixture.predicted(A)).as("the start shows it").isEqualTo(16);
    assertThat(fixture.stream.snapshot()).isNotNull();
  }

  @Test
  void anotherStartThanTheRestoredOneIsAnotherProcessLaterToo() {
    StreamFixture before = StreamFixture.live(true);
    before.engine.serve(A);
    before.deliver(0);
    before.stream.runsSince(START);
    StreamSnapshot snapshot = Objects.requireNonNull(before.stream.snapshot());
    StreamFixture fixture = before.resumed(snapshot, (outcome, why) -> {});
    fixture.stream.connected();
    fixture.answer();
    fixture.stream.disconnected();
    fixture.engine.restart();
    fixture.engine.serve(B).serve(B);
    fixture.stream.connected();
    fixture.refuse();
    IntStream.range(0, 3).forEach(i -> fixture.stream.runsSince(LATER));
    hit(fixture);
    assertThat(fixture.predicted(A)).isZero();
    assertThat(fixture.suspended()).isZero();
  }

  @Test
  void isNotRememberedWhileTheProcessIsUnsure() {
    StreamFixture fixture = restartedUnseen();
    fixture.engine.serve(B).serve(B);
    fixture.stream.connected();
    fixture.refuse();
    fixture.deliver(1);
    assertThat(fixture.suspended()).isPositive();
    assertThat(fixture.stream.snapshot()).isNull();
  }

  @Test
  void aBatchThatWaitedAndWasDroppedIsAskedForAgain() {
    StreamFixture fixture = new StreamFixture(true);
    fixture.stream.connected();
    fixture.engine.serve(A).evict(A, 0);
    fixture.deliver(1);
    fixture.deliver(0);
    fixture.answer();
    assertThat(fixture.predicted(A)).isZero();
    assertThat(fixture.stream.lastSequence()).isEqualTo(1);
  }

  @Test
  void aClearOfTheOldProcessDoesNotEmptyTheNewOne() {
    StreamFixture fixture = StreamFixture.live(true);
    fixture.engine.serve(A);
    fixture.deliver(0);
    fixture.stream.disconnected();
    fixture.stream.connected();
    fixture.stream.cleared();
    fixture.engine.restart();
    fixture.engine.serve(B);
    fixture.answer();
    assertThat(fixture.predicted(B)).isEqualTo(16);
  }

  /** A is held, the start is known, and the engine restarts while nobody hears it. */
  private static StreamFixture restartedUnseen() {
    StreamFixture fixture = StreamFixture.live(true);
    fixture.engine.serve(A);
    fixture.deliver(0);
    fixture.stream.runsSince(START);
    fixture.stream.disconnected();
    fixture.engine.restart();
    return fixture;
  }

  private static void hit(StreamFixture fixture) {
    fixture.clock.pass(Duration.ofSeconds(1));
    fixture.reused(A, 16, fixture.clock.getAsLong());
  }
}
