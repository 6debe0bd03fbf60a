package dev.warmpath.eventingest.stream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.StreamCounter;
import dev.warmpath.eventingest.TestEngine;
import dev.warmpath.eventingest.Trust;
import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class EngineStreamCheckTest {

  private static final int[] A = IntStream.range(0, 17).toArray();
  private static final int[] B = IntStream.range(100, 117).toArray();

  @Test
  void silenceIsCheckedAndADeafConnectionReopened() {
    StreamFixture fixture = StreamFixture.live(true);
    fixture.engine.serve(A);
    fixture.deliver(0);
    fixture.stream.tick();
    assertThat(fixture.asked()).isFalse();

    fixture.clock.pass(StreamFixture.LIMITS.checkInterval());
    fixture.stream.tick();
    assertThat(fixture.asked()).isTrue();
    assertThat(fixture.trust()).as("asking suspends nothing").isEqualTo(Trust.EXACT);
    fixture.answer();
    assertThat(fixture.reopened).isZero();

    fixture.engine.evict(A, 0);
    fixture.clock.pass(StreamFixture.LIMITS.checkInterval());
    fixture.stream.tick();
    fixture.answer();
    assertThat(fixture.predicted(A)).isZero();
    assertThat(fixture.reopened).isEqualTo(1);
    assertThat(fixture.count(StreamCounter.SILENT_CONNECTIONS)).isEqualTo(1);
  }

  @Test
  void batchPublishedBeforeTheSubscriptionReachedTheEngineShowsNoSilence() {
    StreamFixture fixture = StreamFixture.live(true);
    fixture.engine.serve(A);
    fixture.clock.pass(Duration.ofSeconds(1));
    fixture.stream.tick();
    fixture.answer();
    assertThat(fixture.predicted(A)).as("the check brings it").isEqualTo(16);
    assertThat(fixture.reopened).isZero();

    fixture.engine.serve(B);
    fixture.clock.pass(StreamFixture.LIMITS.checkInterval());
    fixture.stream.tick();
    fixture.answer();
    assertThat(fixture.reopened).as("the next one brings more, and still nothing is heard").isOne();
    assertThat(fixture.count(StreamCounter.SILENT_CONNECTIONS)).isEqualTo(1);
  }

  @Test
  void healthThatCameBackIsCheckedAndAnotherProcessFound() {
    StreamFixture fixture = StreamFixture.live(true);
    fixture.engine.serve(A);
    fixture.deliver(0);
    fixture.stream.recovered();
    assertThat(fixture.asked()).isTrue();
    fixture.answer();
    assertThat(fixture.predicted(A)).as("the same process").isEqualTo(16);

    TestEngine other = new TestEngine();
    other.serve(B);
    fixture.stream.recovered();
    fixture.answer(other.published(), 0);
    assertThat(fixture.count(StreamCounter.RESTARTS)).isEqualTo(1);
    assertThat(fixture.predicted(A)).isZero();
    assertThat(fixture.predicted(B)).isEqualTo(16);
  }

  @Test
  void healthTellsNothingWhereNobodyCanBeAsked() {
    StreamFixture fixture = StreamFixture.live(false);
    fixture.engine.serve(A);
    fixture.deliver(0);
    fixture.stream.recovered();
    assertThat(fixture.trust()).isEqualTo(Trust.EXACT);
    assertThat(fixture.predicted(A)).isEqualTo(16);
  }

  @Test
  void checkThatFailsChangesNothing() {
    StreamFixture fixture = StreamFixture.live(true);
    fixture.engine.serve(A);
    fixture.deliver(0);
    fixture.clock.pass(Duration.ofMinutes(1));
    fixture.stream.tick();
    fixture.refuse();

    assertThat(fixture.trust()).isEqualTo(Trust.EXACT);
    assertThat(fixture.predicted(A)).isEqualTo(16);
  }

  @Test
  void checkThatFindsSomethingIsARepairUntilItsEnd() {
    StreamFixture fixture = checkedAfterTwoMissedBatches();

    fixture.stream.replayed(fixture.askedId, fixture.message(0));
    assertThat(fixture.trust()).as("nothing new yet").isEqualTo(Trust.EXACT);
    fixture.stream.replayed(fixture.askedId, fixture.message(1));
    assertThat(fixture.trust()).as("a batch was missed").isEqualTo(Trust.CATCHING_UP);

    fixture.stream.replayEnded(fixture.askedId, false);
    assertThat(fixture.trust()).as("cut short: asked again").isEqualTo(Trust.CATCHING_UP);
    fixture.answer();
    assertThat(fixture.trust()).isEqualTo(Trust.EXACT);
    assertThat(fixture.predicted(A)).isZero();
    assertThat(fixture.predicted(B)).isEqualTo(16);
  }

  @Test
  void checkThatFindsSomethingAndIsNeverFinishedForgets() {
    StreamFixture fixture = checkedAfterTwoMissedBatches();
    fixture.stream.replayed(fixture.askedId, fixture.message(0));
    fixture.stream.replayed(fixture.askedId, fixture.message(1));
    fixture.refuse();

    assertThat(fixture.trust()).isEqualTo(Trust.SUSPECT);
    assertThat(fixture.predicted(A)).as("its removal was missed").isZero();
  }

  @Test
  void checkHoldsNoLiveBatchBack() {
    StreamFixture fixture = checkedAfterASilence();
    fixture.engine.evict(A, 0).serve(B);
    fixture.deliver(1);
    fixture.deliver(2);

    assertThat(fixture.trust()).isEqualTo(Trust.EXACT);
    assertThat(fixture.predicted(A)).isZero();
    assertThat(fixture.predicted(B)).isEqualTo(16);
    assertThat(fixture.stream.bufferedBatches()).isZero();
    fixture.answer();
    assertThat(fixture.trust()).isEqualTo(Trust.EXACT);
    assertThat(fixture.predicted(B)).isEqualTo(16);
    assertThat(fixture.count(StreamCounter.BATCHES)).isEqualTo(3);
    assertThat(fixture.count(StreamCounter.RESTARTS)).isZero();
  }

  @Test
  void checkStillFindsAnotherProcessWhileLiveBatchesCome() {
    StreamFixture fixture = checkedAfterASilence();
    fixture.engine.restart().serve(B).serve(B);
    fixture.deliver(1);
    assertThat(fixture.predicted(A)).as("it looks like the next batch").isEqualTo(16);
    fixture.answer();

    assertThat(fixture.count(StreamCounter.RESTARTS)).isEqualTo(1);
    assertThat(fixture.predicted(A)).isZero();
    assertThat(fixture.predicted(B)).isEqualTo(16);
    assertThat(fixture.trust()).isEqualTo(Trust.EXACT);
  }

  @Test
  void gapDuringACheckIsRepairedAtOnce() {
    StreamFixture fixture = checkedAfterASilence();
    fixture.engine.evict(A, 0).serve(B);
    fixture.deliver(2);

    assertThat(fixture.trust()).isEqualTo(Trust.CATCHING_UP);
    assertThat(fixture.predicted(B)).as("it waits for what is missing").isZero();
    fixture.answer();
    assertThat(fixture.trust()).isEqualTo(Trust.EXACT);
    assertThat(fixture.predicted(A)).isZero();
    assertThat(fixture.predicted(B)).isEqualTo(16);
  }

  @Test
  void knownLossDuringACheckIsRepairedAtOnce() {
    StreamFixture fixture = checkedAfterASilence();
    fixture.engine.evict(A, 0);
    fixture.stream.liveRefused();

    assertThat(fixture.trust()).isEqualTo(Trust.CATCHING_UP);
    fixture.answer();
    assertThat(fixture.trust()).isEqualTo(Trust.EXACT);
    assertThat(fixture.predicted(A)).isZero();
  }

  @Test
  void whatIsStoredBehindAnEmptyingDuringACheckIsKept() {
    StreamFixture fixture = checkedAfterASilence();
    fixture.stream.cleared();
    fixture.engine.clear().serve(B);
    fixture.deliver(1);
    fixture.deliver(2);
    fixture.refuse();

    assertThat(fixture.predicted(A)).isZero();
    assertThat(fixture.predicted(B)).isEqualTo(16);
    assertThat(fixture.trust()).isEqualTo(Trust.EXACT);
  }

  @Test
  void whatACheckFindsFromBeforeAnEmptyingIsNotCredited() {
    StreamFixture fixture = checkedAfterASilence();
    fixture.engine.serve(B);
    fixture.stream.cleared();
    fixture.answer();

    assertThat(fixture.predicted(A)).isZero();
    assertThat(fixture.predicted(B)).isZero();
  }

  @Test
  void engineOfWhichNothingIsMissingIsNotAskedUntilItIsSilent() {
    StreamFixture fixture = new StreamFixture(true);
    fixture.stream.connected();
    fixture.refuse();
    fixture.engine.serve(A);
    fixture.clock.pass(StreamFixture.LIMITS.replayCooldown());
    fixture.deliver(0);
    fixture.stream.tick();

    assertThat(fixture.trust()).isEqualTo(Trust.EXACT);
    assertThat(fixture.asked()).isFalse();
  }

  private static StreamFixture checkedAfterASilence() {
    StreamFixture fixture = StreamFixture.live(true);
    fixture.engine.serve(A);
    fixture.deliver(0);
    fixture.clock.pass(StreamFixture.LIMITS.checkInterval());
    fixture.stream.tick();
    assertThat(fixture.asked()).isTrue();
    return fixture;
  }

  /** The engine stored B and evicted A, which a silent connection did not deliver. */
  private static StreamFixture checkedAfterTwoMissedBatches() {
    StreamFixture fixture = StreamFixture.live(true);
    fixture.engine.serve(A);
    fixture.deliver(0);
    fixture.engine.serve(B).evict(A, 0);
    fixture.clock.pass(StreamFixture.LIMITS.checkInterval());
    fixture.stream.tick();
    return fixture;
  }
}
