package dev.warmpath.eventingest.stream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.StreamCounter;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.eventingest.snapshot.EngineFate;
import dev.warmpath.eventingest.snapshot.StreamSnapshot;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A router dies and another one goes on with what it knew: what may it believe? */
final class EngineStreamResumeTest {

  private static final int[] A = IntStream.range(0, 17).toArray();
  private static final int[] B = IntStream.range(100, 117).toArray();
  private static final int[] C = IntStream.range(200, 217).toArray();

  private static final double START = 1_799_999_999.25;

  private final List<EngineFate> outcomes = new ArrayList<>();

  @Test
  void sameLifetimeGoesOnWhereItStood() {
    StreamFixture before = known();
    StreamFixture after = resume(before);
    after.engine.evict(A, 2).serve(C);

    assertThat(after.trust()).isEqualTo(Trust.CATCHING_UP);
    assertThat(after.predicted(A)).isEqualTo(16);
    after.stream.connected();
    assertThat(after.askedFrom).as("one batch early").isEqualTo(1);
    assertThat(after.trust()).isEqualTo(Trust.CATCHING_UP);
    assertThat(outcomes).isEmpty();
    after.answer();

    assertThat(outcomes).containsExactly(EngineFate.KEPT);
    assertThat(after.trust()).isEqualTo(Trust.EXACT);
    assertThat(after.predicted(A)).isEqualTo(8);
    assertThat(after.predicted(B)).isEqualTo(16);
    assertThat(after.predicted(C)).isEqualTo(16);
    assertThat(after.count(StreamCounter.RECONNECTS)).isZero();
    assertThat(after.count(StreamCounter.UNKNOWN_GROUP_REMOVALS)).as("groups are known").isZero();
    assertThat(after.stream.snapshot())
        .isNotNull()
        .satisfies(m -> assertThat(m.learned()).isEqualTo(before.applier.learned()));
    assertThat(after.count(StreamCounter.BLOCKS_STORED)).as("only what was missing").isEqualTo(4);
  }

  @Test
  void otherLifetimeWithTheSameSequenceIsWiped() {
    StreamFixture before = known();
    before.engine.restart().serve(C).serve(C);
    StreamFixture after = resume(before);
    after.stream.connected();
    after.answer();

    assertThat(outcomes).containsExactly(EngineFate.OTHER_LIFETIME);
    assertThat(after.trust()).isEqualTo(Trust.EXACT);
    assertThat(after.predicted(A)).isZero();
    assertThat(after.predicted(B)).isZero();
    assertThat(after.predicted(C)).isEqualTo(16);
    assertThat(after.count(StreamCounter.RESTARTS)).isEqualTo(1);
  }

  @Test
  void otherLifetimeThatIsNotYetThatFarIsWiped() {
    StreamFixture before = known();
    before.engine.restart().serve(C);
    StreamFixture after = resume(before);
    after.stream.connected();
    after.answer();

    assertThat(outcomes).containsExactly(EngineFate.OTHER_LIFETIME);
    assertThat(after.predicted(A)).isZero();
    assertThat(after.predicted(C)).isEqualTo(16);
    assertThat(after.trust()).isEqualTo(Trust.EXACT);
  }

  @Test
  void otherLifetimeThatHasPublishedNothingIsWiped() {
    StreamFixture before = known();
    before.engine.restart();
    StreamFixture after = resume(before);
    after.stream.connected();
    after.answer();

    assertThat(outcomes).containsExactly(EngineFate.OTHER_LIFETIME);
    assertThat(after.predicted(A)).isZero();
    assertThat(after.trust()).isEqualTo(Trust.EXACT);
  }

  @Test
  void otherLifetimeThatHasPassedTheSequenceIsWiped() {
    StreamFixture before = known();
    before.engine.restart().serve(C).serve(B).evict(B, 1).serve(A);
    StreamFixture after = resume(before);
    after.stream.connected();
    after.answer();

    assertThat(outcomes).containsExactly(EngineFate.OTHER_LIFETIME);
    assertThat(after.predicted(A)).isEqualTo(16);
    assertThat(after.predicted(B)).isEqualTo(4);
    assertThat(after.predicted(C)).isEqualTo(16);
    assertThat(after.trust()).isEqualTo(Trust.EXACT);
  }

  @Test
  void liveBatchOfAnotherLifetimeThatFitsIsNotBelieved() {
    StreamFixture before = known();
    before.engine.restart().serve(C).serve(C).serve(B);
    StreamFixture after = resume(before);
    after.deliver(2); // before the connection was said to be up

    assertThat(after.predicted(C)).as("it waits").isZero();
    assertThat(after.trust()).isEqualTo(Trust.CATCHING_UP);
    after.answer();
    assertThat(outcomes).containsExactly(EngineFate.OTHER_LIFETIME);
    assertThat(after.predicted(A)).isZero();
    assertThat(after.predicted(B)).isEqualTo(16);
  }

  @Test
  void slowerLifetimeShowsItselfByALiveBatchToo() {
    StreamFixture before = known();
    before.engine.restart().serve(C);
    StreamFixture after = resume(before);
    after.stream.connected();
    after.deliver(0);

    assertThat(outcomes).containsExactly(EngineFate.OTHER_LIFETIME);
    assertThat(after.predicted(A)).isZero();
    assertThat(after.predicted(C)).isEqualTo(16);
  }

  @Test
  void lastBatchHeardOnceMoreProvesItBeforeTheReplayDoes() {
    StreamFixture before = known();
    StreamFixture after = resume(before);
    after.stream.connected();
    after.deliver(1);
    assertThat(outcomes).containsExactly(EngineFate.KEPT);
    after.answer();

    assertThat(outcomes).hasSize(1);
    assertThat(after.predicted(A)).isEqualTo(16);
    assertThat(after.trust()).isEqualTo(Trust.EXACT);
    assertThat(after.count(StreamCounter.DUPLICATES)).isEqualTo(1);
  }

  @Test
  void replayThatNoLongerReachesBackProvesNothing() {
    StreamFixture before = known();
    before.engine.evict(A, 0).serve(C);
    StreamFixture after = resume(before);
    after.stream.connected();
    after.answer(after.engine.published(), 2);

    assertThat(outcomes).containsExactly(EngineFate.OUT_OF_REACH);
    assertThat(after.predicted(A)).isZero();
    assertThat(after.predicted(B)).as("nobody knows whether it is held").isZero();
    assertThat(after.predicted(C)).isEqualTo(16);
    assertThat(after.trust()).isEqualTo(Trust.SUSPECT);
  }

  @Test
  void nobodyAnswersSoNothingIsBelieved() {
    StreamFixture before = known();
    StreamFixture after = resume(before);
    after.stream.connected();
    after.refuse();

    assertThat(outcomes).containsExactly(EngineFate.NO_ANSWER);
    assertThat(after.predicted(A)).isZero();
    assertThat(after.trust()).isNotIn(Trust.EXACT, Trust.CATCHING_UP);

    after.clock.pass(StreamFixture.LIMITS.replayCooldown());
    after.stream.tick();
    after.answer();
    assertThat(after.trust()).as("it answers after all").isEqualTo(Trust.EXACT);
    assertThat(after.predicted(A)).isEqualTo(16);
  }

  @Test
  void withoutAReplaySocketNothingIsBelieved() {
    StreamFixture before = known();
    before.canReplay = false;
    StreamFixture after = resume(before);
    after.engine.serve(C);
    after.stream.connected();
    after.deliver(2);

    assertThat(outcomes).containsExactly(EngineFate.NO_ANSWER);
    assertThat(after.predicted(A)).isZero();
    assertThat(after.predicted(C)).isEqualTo(16);
    assertThat(after.trust()).isEqualTo(Trust.SUSPECT);
  }

  @Test
  void startOfTheProcessVouchesForNamesWithoutAReplaySocket() {
    StreamFixture before = known();
    before.stream.runsSince(START);
    before.canReplay = false;
    StreamFixture after = resume(before);
    after.engine.evict(B, 3);
    after.stream.connected();
    assertThat(after.trust()).isEqualTo(Trust.CATCHING_UP);
    assertThat(after.predicted(A)).as("nothing is credited").isZero();

    after.stream.runsSince(START);
    assertThat(outcomes).containsExactly(EngineFate.SUSPENDED);
    assertThat(after.trust()).isEqualTo(Trust.SUSPECT);
    assertThat(after.predicted(A)).isZero();

    after.clock.pass(Duration.ofSeconds(1));
    after.reused(A, 16, after.clock.getAsLong());
    assertThat(after.predicted(A)).as("and is held again once it is seen").isEqualTo(16);
    assertThat(after.predicted(B)).isZero();
  }

  @Test
  void startOfAnotherProcessForgetsThem() {
    StreamFixture before = known();
    before.stream.runsSince(START);
    before.canReplay = false;
    before.engine.restart().serve(B).serve(C).serve(A);
    StreamFixture after = resume(before);
    after.stream.connected();
    after.deliver(2);
    after.stream.runsSince(START + 60);

    assertThat(outcomes).containsExactly(EngineFate.OTHER_LIFETIME);
    assertThat(after.suspended()).isZero();
    assertThat(after.predicted(B)).isZero();
  }

  @Test
  void nobodySaysWhenTheProcessStarted() {
    StreamFixture before = known();
    before.stream.runsSince(START);
    before.canReplay = false;
    StreamFixture after = resume(before);
    after.stream.connected();
    after.clock.pass(Duration.ofSeconds(61));
    assertThat(after.suspended()).isEqualTo(8);
    after.stream.tick();

    assertThat(outcomes).containsExactly(EngineFate.NO_ANSWER);
    assertThat(after.suspended()).isZero();
    assertThat(after.trust()).isEqualTo(Trust.SUSPECT);
  }

  @Test
  void reuseProvesNothingBeforeItIsKnownWhoseItIs() {
    StreamFixture before = known();
    before.stream.runsSince(START);
    before.canReplay = false;
    StreamFixture after = resume(before);
    after.stream.connected();
    after.clock.pass(Duration.ofSeconds(1));
    after.reused(A, 16, after.clock.getAsLong());
    assertThat(after.predicted(A)).isZero();
  }

  @Test
  void startOfTheProcessVouchesForNamesWhenTheReplayBeginsTooLate() {
    StreamFixture before = known();
    before.stream.runsSince(START);
    before.engine.evict(A, 0).serve(C);
    StreamFixture after = resume(before);
    after.stream.connected();
    after.answer(after.engine.published(), 3);
    assertThat(outcomes).isEmpty();
    assertThat(after.predicted(A)).isZero();
    assertThat(after.predicted(C)).isEqualTo(16);

    after.stream.runsSince(START);
    assertThat(outcomes).containsExactly(EngineFate.SUSPENDED);
    assertThat(after.suspended()).isEqualTo(8);
    assertThat(after.trust()).isEqualTo(Trust.SUSPECT);
  }

  @Test
  void replayThatBeginsRightBehindTheLastBatchSuspendsToo() {
    StreamFixture before = known();
    before.stream.runsSince(START);
    before.engine.serve(C);
    StreamFixture after = resume(before);
    after.stream.connected();
    after.answer(after.engine.published(), 2);
    assertThat(after.predicted(A)).isZero();
    assertThat(after.predicted(C)).isEqualTo(16);
  }

  @Test
  void fateIsDecidedBeforeLostBatchesAreAskedForAgain() {
    StreamFixture before = known();
    before.stream.runsSince(START);
    StreamFixture after = resume(before);
    after.stream.connected();
    after.refuse();
    after.engine.serve(C);
    after.clock.pass(StreamFixture.LIMITS.replayCooldown());
    after.stream.tick();
    after.answer(after.engine.published(), 2); // behind all that was known

    after.stream.runsSince(START);
    assertThat(outcomes).containsExactly(EngineFate.SUSPENDED);
    assertThat(after.trust()).isEqualTo(Trust.SUSPECT);
    assertThat(after.predicted(C)).isEqualTo(16);

    after.clock.pass(StreamFixture.LIMITS.replayCooldown());
    after.stream.tick();
    after.answer();
    assertThat(outcomes).hasSize(1);
    assertThat(after.trust()).isEqualTo(Trust.EXACT);
    assertThat(after.predicted(A)).isEqualTo(16);
  }

  @Test
  void replayThatBreaksOffIsAskedAgain() {
    StreamFixture before = known();
    StreamFixture after = resume(before);
    after.engine.serve(C).evict(B, 0);
    after.stream.connected();
    after.stream.replayed(after.askedId, after.message(1));
    after.stream.replayed(after.askedId, after.message(2));
    after.stream.replayEnded(after.askedId, false);
    assertThat(after.trust()).isEqualTo(Trust.CATCHING_UP);
    after.answer();

    assertThat(outcomes).containsExactly(EngineFate.KEPT);
    assertThat(after.predicted(B)).isZero();
    assertThat(after.predicted(C)).isEqualTo(16);
    assertThat(after.trust()).isEqualTo(Trust.EXACT);
  }

  @Test
  void gapsAreRemembered() {
    StreamFixture before = StreamFixture.live(false);
    before.engine.serve(A).serve(B).serve(C);
    before.deliver(0);
    before.deliver(2);
    before.canReplay = true;
    StreamFixture after = resume(before);
    after.stream.connected();
    after.answer();

    assertThat(outcomes).containsExactly(EngineFate.KEPT);
    assertThat(after.predicted(C)).isEqualTo(16);
    assertThat(after.trust()).isEqualTo(Trust.SUSPECT);
    assertThat(after.stream.trust().reason()).isEqualTo("lost batches 1 to 1; 4 blocks suspended");
  }

  @Test
  void snapshotOfWhatIsNotProvenYetIsTheOneItCameFrom() {
    StreamFixture before = known();
    StreamSnapshot snapshot = Objects.requireNonNull(before.stream.snapshot());
    StreamFixture after = before.resumed(snapshot, this::hear);
    assertThat(after.stream.snapshot()).isEqualTo(snapshot);
  }

  @Test
  void thereIsNothingToRememberBeforeTheFirstBatchAndWhileAnEmptyingIsUnderWay() {
    StreamFixture fixture = StreamFixture.live(true);
    assertThat(fixture.stream.snapshot()).isNull();
    fixture.engine.serve(A).serve(B);
    fixture.deliver(1);
    fixture.stream.cleared();
    assertThat(fixture.stream.snapshot()).isNull();
    fixture.answer();
    assertThat(fixture.stream.snapshot()).isNotNull();
  }

  @Test
  void knownRestartEndsTheWaiting() {
    StreamFixture after = resume(known());
    after.stream.restarted("the process is new");

    assertThat(outcomes).containsExactly(EngineFate.OTHER_LIFETIME);
    assertThat(after.predicted(A)).isZero();
    after.clock.pass(Duration.ofMinutes(1));
    assertThat(after.trust()).isEqualTo(Trust.NONE);
  }

  /** A router that knows A and B, as batches 0 and 1. */
  private static StreamFixture known() {
    StreamFixture fixture = StreamFixture.live(true);
    fixture.engine.serve(A).serve(B);
    fixture.deliver(0);
    fixture.deliver(1);
    assertThat(fixture.predicted(A)).isEqualTo(16);
    return fixture;
  }

  private StreamFixture resume(StreamFixture before) {
    return before.resumed(Objects.requireNonNull(before.stream.snapshot()), this::hear);
  }

  private void hear(EngineFate outcome, String why) {
    assertThat(why).isNotEmpty();
    outcomes.add(outcome);
  }
}
