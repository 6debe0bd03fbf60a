package dev.warmpath.eventingest.stream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.StreamCounter;
import dev.warmpath.eventingest.Trust;
import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * What becomes of an engine's blocks when events of it were lost: suspended, confirmed, or
 * forgotten.
 */
final class EngineStreamSuspensionTest {

  private static final int[] A = IntStream.range(0, 17).toArray();
  private static final int[] LONGER_A = IntStream.range(0, 21).toArray();
  private static final int[] BRANCH_OF_A =
      IntStream.range(0, 21).map(i -> i < 12 ? i : 300 + i).toArray();
  private static final int[] B = IntStream.range(100, 117).toArray();

  @Test
  void storeBehindABlockFromBeforeTheGapProvesItsChain() {
    StreamFixture fixture = afterGap(false);
    assertThat(fixture.predicted(LONGER_A)).isZero();
    assertThat(fixture.suspended()).isEqualTo(4);

    fixture.engine.serve(LONGER_A);
    fixture.deliverLast();

    assertThat(fixture.predicted(LONGER_A)).isEqualTo(20);
    assertThat(fixture.suspended()).isZero();
    assertThat(fixture.trust()).isEqualTo(Trust.SUSPECT);
    assertThat(fixture.count(StreamCounter.SUSPENDED_BLOCKS)).isEqualTo(4);
    assertThat(fixture.count(StreamCounter.CONFIRMED_BLOCKS)).isEqualTo(4);
  }

  @Test
  void storeProvesNothingBehindItsParent() {
    StreamFixture fixture = afterGap(false);
    fixture.engine.serve(BRANCH_OF_A);
    fixture.deliverLast();

    assertThat(fixture.predicted(BRANCH_OF_A)).isEqualTo(20);
    assertThat(fixture.predicted(A)).isEqualTo(12);
  }

  @Test
  void whatIsRemovedAfterTheGapIsConfirmedNoMore() {
    StreamFixture fixture = afterGap(false);
    fixture.engine.evict(A, 3);
    fixture.deliverLast();
    fixture.reused(A, 16, later(fixture));

    assertThat(fixture.predicted(A)).isEqualTo(12);
  }

  @Test
  void reusedTokensProveWhatTheyCover() {
    StreamFixture fixture = afterGap(false);
    fixture.reused(A, 11, later(fixture));
    assertThat(fixture.predicted(A)).isEqualTo(8);
    assertThat(fixture.count(StreamCounter.CONFIRMED_BLOCKS)).isEqualTo(2);
  }

  @Test
  void reuseOfARequestFromBeforeTheGapProvesNothing() {
    StreamFixture fixture = afterGap(false);
    fixture.reused(A, 16, fixture.clock.getAsLong());
    assertThat(fixture.predicted(A)).isZero();
  }

  @Test
  void reuseThatIsHeardOfBeforeTheStoreIsOneCopy() {
    StreamFixture fixture = afterGap(false);
    fixture.engine.evict(A, 0).serve(A);
    fixture.reused(A, 16, later(fixture));
    fixture.deliver(fixture.engine.lastSequence() - 1);
    fixture.deliverLast();
    fixture.reused(A, 16, later(fixture));
    fixture.engine.evict(A, 0);
    fixture.deliverLast();

    assertThat(fixture.engine.reusable(A)).isZero();
    assertThat(fixture.predicted(A)).isZero();
  }

  @Test
  void storeOnItsWayWhileReuseIsSeenIsOneCopy() {
    StreamFixture fixture = StreamFixture.live(false);
    fixture.engine.serve(A).evict(A, 0).evict(B, 0);
    fixture.deliver(0);
    fixture.deliver(2);
    fixture.engine.serve(A);
    fixture.reused(A, 16, later(fixture));
    assertThat(fixture.predicted(A)).isEqualTo(16);
    fixture.deliverLast();
    fixture.engine.evict(A, 0);
    fixture.deliverLast();

    assertThat(fixture.engine.reusable(A)).isZero();
    assertThat(fixture.predicted(A)).isZero();
  }

  @Test
  void replayThatBeginsLaterKeepsTheNames() {
    StreamFixture fixture = StreamFixture.live(true);
    fixture.engine.serve(A).serve(B).evict(B, 0).serve(LONGER_A);
    fixture.deliver(0);
    fixture.deliver(3);
    fixture.answer(fixture.engine.published(), 2);

    assertThat(fixture.trust()).isEqualTo(Trust.SUSPECT);
    assertThat(fixture.stream.trust().reason())
        .isEqualTo("lost batches 1 to 1; 4 blocks suspended");
    assertThat(fixture.predicted(LONGER_A)).isEqualTo(20);
  }

  @Test
  void replayThatBeginsLaterAfterAReconnectForgets() {
    StreamFixture fixture = StreamFixture.live(true);
    fixture.engine.serve(A).serve(B).serve(B).serve(LONGER_A);
    fixture.deliver(0);
    fixture.stream.disconnected();
    fixture.stream.connected();
    fixture.answer(fixture.engine.published(), 2);

    assertThat(fixture.trust()).isEqualTo(Trust.SUSPECT);
    assertThat(fixture.suspended()).isZero();
    assertThat(fixture.predicted(LONGER_A)).as("its parent has no name").isZero();
    assertThat(fixture.count(StreamCounter.RESTARTS)).isEqualTo(1);
  }

  @Test
  void replayAfterARestThatBeginsLaterKeepsTheNames() {
    StreamFixture fixture = StreamFixture.live(true);
    fixture.engine.serve(A).serve(B).serve(B).serve(LONGER_A);
    fixture.deliver(0);
    fixture.deliver(2);
    fixture.refuse();
    fixture.clock.pass(StreamFixture.LIMITS.replayCooldown());
    fixture.stream.tick();
    fixture.answer(fixture.engine.published(), 2);

    assertThat(fixture.trust()).isEqualTo(Trust.SUSPECT);
    assertThat(fixture.stream.trust().reason()).isEqualTo("the replay begins at batch 2");
    assertThat(fixture.predicted(LONGER_A)).isEqualTo(20);
  }

  @Test
  void replayAfterARestDoesNotShowThatSuspendedBlocksAreOfThisProcess() {
    StreamFixture fixture = StreamFixture.live(true);
    fixture.stream.runsSince(7);
    fixture.engine.serve(A);
    fixture.deliver(0);
    fixture.stream.disconnected();
    fixture.engine.restart().serve(A).serve(B).serve(B);
    fixture.stream.connected();
    fixture.refuse();
    fixture.clock.pass(StreamFixture.LIMITS.replayCooldown());
    fixture.stream.tick();
    fixture.answer(fixture.engine.published(), 1);
    fixture.reused(A, 16, later(fixture));
    assertThat(fixture.predicted(A)).as("its names may be of another process").isZero();

    fixture.stream.runsSince(8);
    assertThat(fixture.suspended()).isZero();
    assertThat(fixture.count(StreamCounter.RESTARTS)).isEqualTo(1);
  }

  @Test
  void replayThatBeginsBehindLiveBatchesThatWaitIsTakenAsItIs() {
    StreamFixture fixture = new StreamFixture(true);
    fixture.stream.connected();
    fixture.engine.serve(A).serve(A).serve(B).serve(B);
    fixture.deliver(1);
    fixture.deliver(2);
    fixture.answer(fixture.engine.published(), 3);

    assertThat(fixture.trust()).isEqualTo(Trust.SUSPECT);
    assertThat(fixture.stream.lastSequence()).isEqualTo(3);
    assertThat(fixture.count(StreamCounter.RESTARTS)).isZero();
  }

  @Test
  void emptyCacheForgetsWhatIsSuspended() {
    StreamFixture fixture = afterGap(false);
    fixture.engine.clear();
    fixture.deliverLast();

    assertThat(fixture.suspended()).isZero();
    assertThat(fixture.trust()).isEqualTo(Trust.EXACT);
  }

  @Test
  void gapAfterAReconnectThatCouldNotBeCheckedIsOfOneProcess() {
    StreamFixture fixture = afterGap(false);
    fixture.stream.disconnected();
    fixture.stream.connected();
    assertThat(fixture.stream.trust().reason()).isEqualTo("reconnected, and no replay");
    fixture.engine.serve(B).evict(B, 3).serve(B);
    fixture.deliver(fixture.engine.lastSequence() - 2);
    fixture.deliverLast();

    assertThat(fixture.count(StreamCounter.SUSPENDED_BLOCKS)).as("A, and then B").isEqualTo(8);
    assertThat(fixture.predicted(B)).isEqualTo(16);
  }

  @Test
  void lossBeforeAReconnectIsCheckedForgets() {
    StreamFixture fixture = StreamFixture.live(true);
    fixture.engine.serve(A);
    fixture.deliver(0);
    fixture.stream.disconnected();
    fixture.stream.connected();
    fixture.refuse();

    assertThat(fixture.suspended()).isZero();
    assertThat(fixture.stream.trust().reason())
        .isEqualTo("reconnected and no replay answers; 4 blocks forgotten");
  }

  @Test
  void whatOthersSaidSuspends() {
    StreamFixture fixture = StreamFixture.live(true);
    fixture.engine.serve(A);
    fixture.deliver(0);
    fixture.stream.suspend("it reused less than it announced");

    assertThat(fixture.predicted(A)).isZero();
    assertThat(fixture.trust()).isEqualTo(Trust.SUSPECT);
    assertThat(fixture.stream.trust().reason())
        .isEqualTo("it reused less than it announced; 4 blocks suspended");
  }

  @Test
  void reuseWhileTheConnectionIsDownProvesNothing() {
    StreamFixture fixture = afterGap(false);
    fixture.stream.disconnected();
    fixture.reused(A, 16, later(fixture));
    assertThat(fixture.predicted(A)).isZero();
  }

  /** A was stored, then a batch was lost, and one came that shows it. */
  private static StreamFixture afterGap(boolean canReplay) {
    StreamFixture fixture = StreamFixture.live(canReplay);
    fixture.engine.serve(A).evict(B, 0).evict(B, 0);
    fixture.deliver(0);
    fixture.deliver(2);
    return fixture;
  }

  private static long later(StreamFixture fixture) {
    fixture.clock.pass(Duration.ofMillis(1));
    return fixture.clock.getAsLong();
  }
}
