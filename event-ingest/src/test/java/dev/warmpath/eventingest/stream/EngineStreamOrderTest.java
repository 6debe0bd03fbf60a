package dev.warmpath.eventingest.stream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.StreamCounter;
import dev.warmpath.eventingest.Trust;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Without a replay socket: is a batch that comes late of the same process, and what does it say?
 */
final class EngineStreamOrderTest {

  private static final int[] A = IntStream.range(0, 17).toArray();
  private static final int[] LONGER_A = IntStream.range(0, 21).toArray();
  private static final int[] B = IntStream.range(100, 117).toArray();
  private static final int[] C = IntStream.range(200, 217).toArray();
  private static final double START = 1_799_999_999.25;

  private final StreamFixture fixture = StreamFixture.live(false);

  @Test
  void lateBatchIsNoRestartAndNotApplied() {
    fixture.engine.serve(A).serve(B).evict(B, 3).evict(B, 2).serve(LONGER_A);
    deliver(0, 2, 1, 3, 4);

    assertThat(fixture.predicted(B)).as("its removal came before its store").isZero();
    assertThat(fixture.predicted(LONGER_A)).as("confirmed by what came behind").isEqualTo(20);
    assertThat(fixture.count(StreamCounter.LATE_BATCHES)).isEqualTo(1);
    assertThat(fixture.count(StreamCounter.LOST_BATCHES)).isEqualTo(1);
    assertThat(fixture.count(StreamCounter.RESTARTS)).isZero();
    assertThat(fixture.trust()).isEqualTo(Trust.SUSPECT);
    assertThat(fixture.stream.lastSequence()).isEqualTo(4);
  }

  @Test
  void batchesThatComeBehindLaterOnesInOrderAreNoRestartEither() {
    fixture.engine.serve(A).serve(B).serve(C).evict(B, 0).evict(C, 1).serve(LONGER_A);
    deliver(0, 4, 1, 2, 3, 5);

    assertThat(fixture.predicted(B)).isZero();
    assertThat(fixture.predicted(C)).isZero();
    assertThat(fixture.predicted(LONGER_A)).isEqualTo(20);
    assertThat(fixture.count(StreamCounter.LATE_BATCHES)).isEqualTo(3);
    assertThat(fixture.count(StreamCounter.RESTARTS)).isZero();
  }

  @Test
  void anotherProcessThatLooksLikeALateBatchIsFoundOutAndNeverCreditedMore() {
    fixture.engine.serve(A).serve(B).serve(C).serve(B);
    deliver(0, 3);
    fixture.engine.restart().serve(C).serve(B).serve(C).serve(A);
    deliver(1);
    noneIsOvercredited();
    deliver(2);
    noneIsOvercredited();
    assertThat(fixture.count(StreamCounter.LATE_BATCHES)).isEqualTo(2);
    assertThat(fixture.count(StreamCounter.RESTARTS)).isZero();
    deliver(3);
    noneIsOvercredited();
    assertThat(fixture.count(StreamCounter.RESTARTS)).isEqualTo(1);
    assertThat(fixture.suspended()).isZero();
    assertThat(fixture.predicted(A)).isEqualTo(16);
    fixture.engine.evict(A, 1);
    deliver(4);
    noneIsOvercredited();
  }

  @Test
  void firstBatchThatComesLateDoesNotMakeTheStreamExact() {
    fixture.engine.serve(A).serve(B).evict(A, 0);
    deliver(1, 2, 0);
    noneIsOvercredited();
    assertThat(fixture.trust()).isEqualTo(Trust.SUSPECT);
    assertThat(fixture.count(StreamCounter.LATE_BATCHES)).isEqualTo(1);
  }

  @Test
  void nothingComesLateOverAnotherConnection() {
    fixture.engine.serve(A).serve(B).serve(C);
    deliver(2);
    fixture.stream.disconnected();
    fixture.engine.restart().serve(A);
    fixture.stream.connected();
    deliver(0);
    assertThat(fixture.count(StreamCounter.LATE_BATCHES)).isZero();
    assertThat(fixture.count(StreamCounter.RESTARTS)).isEqualTo(1);
    assertThat(fixture.trust()).isEqualTo(Trust.EXACT);
    assertThat(fixture.predicted(A)).isEqualTo(16);
  }

  @Test
  void reuseProvesNothingWhileItIsNotKnownWhoWasLate() {
    fixture.engine.serve(A).serve(B).serve(C);
    deliver(0, 2, 1);
    fixture.clock.pass(StreamFixture.LIMITS.checkInterval());
    fixture.reused(A, 16, fixture.clock.getAsLong());
    assertThat(fixture.predicted(A)).isZero();
  }

  @Test
  void batchFromLongAgoIsOfAnotherProcess() {
    fixture.engine.serve(A);
    for (int i = 0; i < 70; i++) {
      fixture.engine.serve(B);
    }
    deliver(0, 70, 2);
    assertThat(fixture.count(StreamCounter.LATE_BATCHES)).isZero();
    assertThat(fixture.count(StreamCounter.RESTARTS)).isEqualTo(1);
  }

  @Test
  void connectionThatWasLostKeepsNamesIfTheStartIsKnown() {
    fixture.engine.serve(A).serve(B);
    deliver(0, 1);
    fixture.stream.runsSince(START);
    fixture.stream.disconnected();
    fixture.engine.evict(A, 3).serve(C);
    fixture.stream.connected();
    assertThat(fixture.predicted(A)).isZero();
    assertThat(fixture.suspended()).isEqualTo(8);

    reused(B);
    assertThat(fixture.predicted(B)).as("it may be another process").isZero();
    fixture.stream.runsSince(START);
    fixture.stream.runsSince(START);
    reused(B);
    assertThat(fixture.predicted(B)).isEqualTo(16);
    assertThat(fixture.predicted(A)).isZero();
  }

  private void reused(int[] prompt) {
    fixture.clock.pass(StreamFixture.LIMITS.checkInterval());
    fixture.reused(prompt, 16, fixture.clock.getAsLong());
  }

  private void deliver(int... sequences) {
    for (int sequence : sequences) {
      fixture.deliver(sequence);
    }
  }

  private void noneIsOvercredited() {
    for (int[] prompt : new int[][] {A, LONGER_A, B, C}) {
      assertThat(fixture.predicted(prompt)).isLessThanOrEqualTo(fixture.engine.reusable(prompt));
    }
  }
}
