package dev.warmpath.eventingest.stream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.StreamCounter;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.eventingest.wire.StreamMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class EngineStreamTest {

  private static final int[] A = IntStream.range(0, 17).toArray();
  private static final int[] B = IntStream.range(100, 117).toArray();
  private static final int[] C = IntStream.range(200, 217).toArray();

  @Test
  void believesNothingBeforeTheFirstWord() {
    StreamFixture fixture = new StreamFixture(true);
    assertThat(fixture.trust()).isEqualTo(Trust.NONE);

    fixture.stream.connected();
    assertThat(fixture.trust()).isEqualTo(Trust.CATCHING_UP);
    assertThat(fixture.askedFrom).isZero();

    fixture.answer();
    assertThat(fixture.trust()).isEqualTo(Trust.EXACT);
  }

  @Test
  void slowJoinerLearnsTheBeginningFromAReplay() {
    StreamFixture fixture = new StreamFixture(true);
    fixture.engine.serve(A).serve(B);
    fixture.stream.connected();
    fixture.engine.serve(C);
    fixture.deliver(2);
    assertThat(fixture.predicted(C)).as("live batches wait").isZero();

    fixture.answer();

    assertThat(fixture.trust()).isEqualTo(Trust.EXACT);
    assertThat(fixture.predicted(A)).isEqualTo(16);
    assertThat(fixture.predicted(C)).isEqualTo(16);
    assertThat(fixture.count(StreamCounter.DUPLICATES)).isEqualTo(1);
    assertThat(fixture.count(StreamCounter.BLOCKS_STORED)).isEqualTo(12);
  }

  @Test
  void lateJoinerWithoutReplayCreditsLessAndSaysSo() {
    StreamFixture fixture = new StreamFixture(false);
    fixture.engine.serve(A).serve(B);
    fixture.stream.connected();
    fixture.deliver(1);

    assertThat(fixture.trust()).isEqualTo(Trust.SUSPECT);
    assertThat(fixture.stream.trust().reason()).contains("batch 1");
    assertThat(fixture.predicted(A)).isZero();
    assertThat(fixture.predicted(B)).isEqualTo(16);
    assertThat(fixture.count(StreamCounter.LOST_BATCHES)).isEqualTo(1);
  }

  @Test
  void emptyCacheMakesKnowledgeCompleteAgain() {
    StreamFixture fixture = new StreamFixture(false);
    fixture.engine.serve(A).serve(B).clear();
    fixture.stream.connected();
    fixture.deliver(1);
    fixture.deliver(2);

    assertThat(fixture.trust()).isEqualTo(Trust.EXACT);
    assertThat(fixture.predicted(B)).isZero();
  }

  @Test
  void gapIsRepairedByAReplayThatBeginsOneBatchEarly() {
    StreamFixture fixture = StreamFixture.live(true);
    fixture.engine.serve(A).evict(A, 0).serve(B).serve(C);
    fixture.deliver(0);
    fixture.deliver(2);
    fixture.deliver(3);
    assertThat(fixture.trust()).isEqualTo(Trust.CATCHING_UP);
    assertThat(fixture.askedFrom).isZero();

    fixture.answer();

    assertThat(fixture.trust()).isEqualTo(Trust.EXACT);
    assertThat(fixture.predicted(A)).isZero();
    assertThat(fixture.predicted(B)).isEqualTo(16);
    assertThat(fixture.predicted(C)).isEqualTo(16);
    assertThat(fixture.count(StreamCounter.GAPS)).isEqualTo(1);
    assertThat(fixture.count(StreamCounter.LOST_BATCHES)).isZero();
  }

  @Test
  void gapWithoutReplaySuspendsAllButWhatFollows() {
    StreamFixture fixture = StreamFixture.live(false);
    fixture.engine.serve(A).evict(A, 0).serve(B);
    fixture.deliver(0);
    assertThat(fixture.trust()).isEqualTo(Trust.EXACT);
    fixture.deliver(2);

    assertThat(fixture.trust()).isEqualTo(Trust.SUSPECT);
    assertThat(fixture.stream.trust().reason())
        .isEqualTo("lost batches 1 to 1; 4 blocks suspended");
    assertThat(fixture.predicted(A)).isZero();
    assertThat(fixture.predicted(B)).isEqualTo(16);
  }

  @Test
  void replayThatNeverAnswersCountsAsLossAfterAllAttempts() {
    StreamFixture fixture = StreamFixture.live(true);
    fixture.engine.serve(A).evict(A, 0).serve(B).serve(C);
    fixture.deliver(0);
    fixture.deliver(2);
    fixture.refuse();

    assertThat(fixture.trust()).isEqualTo(Trust.SUSPECT);
    assertThat(fixture.predicted(A)).isZero();
    assertThat(fixture.predicted(B)).isEqualTo(16);
    assertThat(fixture.count(StreamCounter.REPLAY_FAILURES)).isEqualTo(2);

    fixture.deliver(3);
    assertThat(fixture.asked()).as("nothing is missing any more").isFalse();
  }

  @Test
  void engineThatDidNotAnswerIsNotAskedAgainForAWhile() {
    StreamFixture fixture = StreamFixture.live(true);
    fixture.engine.serve(A).serve(B).serve(C).serve(A).serve(B);
    fixture.deliver(0);
    fixture.deliver(2);
    fixture.refuse();
    fixture.deliver(4);
    assertThat(fixture.asked()).isFalse();
    assertThat(fixture.count(StreamCounter.LOST_BATCHES)).isEqualTo(2);

    fixture.clock.pass(StreamFixture.LIMITS.replayCooldown());
    fixture.engine.serve(C).serve(C);
    fixture.deliver(6);
    assertThat(fixture.asked()).isTrue();
  }

  @Test
  void replayCutShortIsContinuedWhereItEnded() {
    StreamFixture fixture = StreamFixture.live(true);
    fixture.engine.serve(A).serve(B).evict(A, 1).serve(C);
    fixture.deliver(0);
    fixture.deliver(3);
    long id = fixture.askedId;
    fixture.stream.replayed(id, new StreamMessage(0, fixture.engine.payload(0)));
    fixture.stream.replayed(id, new StreamMessage(1, fixture.engine.payload(1)));
    fixture.stream.replayEnded(id, false);
    assertThat(fixture.askedFrom).isEqualTo(1);

    fixture.answer();

    assertThat(fixture.trust()).isEqualTo(Trust.EXACT);
    assertThat(fixture.predicted(A)).isEqualTo(4);
    assertThat(fixture.predicted(C)).isEqualTo(16);
  }

  @Test
  void replayThatNoLongerReachesBackSuspendsAndStartsFromItsBuffer() {
    StreamFixture fixture = StreamFixture.live(true);
    fixture.engine.serve(A).evict(A, 0).serve(B).serve(C);
    fixture.deliver(0);
    fixture.deliver(3);
    fixture.answer(fixture.engine.published(), 2);

    assertThat(fixture.trust()).isEqualTo(Trust.SUSPECT);
    assertThat(fixture.predicted(A)).isZero();
    assertThat(fixture.predicted(B)).isEqualTo(16);
    assertThat(fixture.predicted(C)).isEqualTo(16);
  }

  @Test
  void holeInsideAReplaySuspendsWhatCameBefore() {
    StreamFixture fixture = StreamFixture.live(true);
    fixture.engine.serve(A).evict(A, 0).serve(B).serve(C);
    fixture.deliver(0);
    fixture.deliver(3);
    long id = fixture.askedId;
    fixture.askedFrom = -1;
    for (int sequence : new int[] {0, 2, 3}) {
      fixture.stream.replayed(id, new StreamMessage(sequence, fixture.engine.payload(sequence)));
    }
    fixture.stream.replayEnded(id, true);

    assertThat(fixture.trust()).isEqualTo(Trust.SUSPECT);
    assertThat(fixture.predicted(A)).isZero();
    assertThat(fixture.predicted(B)).isEqualTo(16);
    assertThat(fixture.count(StreamCounter.LOST_BATCHES)).isEqualTo(1);
  }

  @Test
  void batchThatComesTwiceIsAppliedOnce() {
    StreamFixture fixture = StreamFixture.live(false);
    fixture.engine.serve(A).evict(A, 0);
    fixture.deliver(0);
    fixture.deliver(0);
    fixture.deliver(1);

    assertThat(fixture.predicted(A)).isZero();
    assertThat(fixture.count(StreamCounter.DUPLICATES)).isEqualTo(1);
    assertThat(fixture.count(StreamCounter.RESTARTS)).isZero();
  }

  @Test
  void sequenceThatGoesBackIsANewLifetime() {
    StreamFixture fixture = StreamFixture.live(false);
    fixture.engine.serve(A).serve(B);
    fixture.deliver(0);
    fixture.deliver(1);
    fixture.engine.restart().serve(C);
    fixture.deliver(0);

    assertThat(fixture.trust()).isEqualTo(Trust.EXACT);
    assertThat(fixture.predicted(A)).isZero();
    assertThat(fixture.predicted(B)).isZero();
    assertThat(fixture.predicted(C)).isEqualTo(16);
    assertThat(fixture.count(StreamCounter.RESTARTS)).isEqualTo(1);
  }

  @Test
  void newLifetimeThatIsNoticedLateIsReplayedFromItsBeginning() {
    StreamFixture fixture = StreamFixture.live(true);
    fixture.engine.serve(A).serve(A).serve(A);
    for (int sequence = 0; sequence < 3; sequence++) {
      fixture.deliver(sequence);
    }
    fixture.engine.restart().serve(B).serve(C);
    fixture.deliver(1);
    assertThat(fixture.askedFrom).isZero();
    fixture.answer();

    assertThat(fixture.trust()).isEqualTo(Trust.EXACT);
    assertThat(fixture.predicted(A)).isZero();
    assertThat(fixture.predicted(B)).isEqualTo(16);
    assertThat(fixture.predicted(C)).isEqualTo(16);
  }

  @Test
  void newLifetimeThatPassedTheOldSequenceIsSeenByTheBytes() {
    StreamFixture fixture = StreamFixture.live(true);
    fixture.engine.serve(A).serve(A);
    fixture.deliver(0);
    fixture.deliver(1);
    fixture.stream.disconnected();
    fixture.engine.restart().serve(B).serve(C).serve(C);
    fixture.deliver(2);
    assertThat(fixture.predicted(A))
        .as("looks like the next batch of the old process")
        .isPositive();
    fixture.stream.connected();
    fixture.answer();

    assertThat(fixture.trust()).isEqualTo(Trust.EXACT);
    assertThat(fixture.predicted(A)).isZero();
    assertThat(fixture.predicted(B)).isEqualTo(16);
    assertThat(fixture.count(StreamCounter.RESTARTS)).isEqualTo(1);
  }

  @Test
  void gapAfterAHiddenRestartIsNotBridged() {
    StreamFixture fixture = StreamFixture.live(true);
    fixture.engine.serve(A).serve(A);
    fixture.deliver(0);
    fixture.deliver(1);
    fixture.engine.restart().serve(B).serve(C).serve(C).serve(C);
    fixture.deliver(3);
    fixture.answer();

    assertThat(fixture.trust()).isEqualTo(Trust.EXACT);
    assertThat(fixture.predicted(A)).isZero();
    assertThat(fixture.predicted(B)).isEqualTo(16);
  }

  @Test
  void reconnectToARestartedAndSilentEngineForgets() {
    StreamFixture fixture = StreamFixture.live(true);
    fixture.engine.serve(A);
    fixture.deliver(0);
    fixture.stream.disconnected();
    assertThat(fixture.trust()).isEqualTo(Trust.SUSPECT);
    fixture.engine.restart();
    fixture.stream.connected();
    assertThat(fixture.trust()).isEqualTo(Trust.CATCHING_UP);
    fixture.answer();

    assertThat(fixture.trust()).isEqualTo(Trust.EXACT);
    assertThat(fixture.predicted(A)).isZero();
  }

  @Test
  void reconnectToTheSameProcessKeepsWhatItHolds() {
    StreamFixture fixture = StreamFixture.live(true);
    fixture.engine.serve(A);
    fixture.deliver(0);
    fixture.stream.disconnected();
    fixture.engine.serve(B);
    fixture.stream.connected();
    fixture.answer();

    assertThat(fixture.trust()).isEqualTo(Trust.EXACT);
    assertThat(fixture.predicted(A)).isEqualTo(16);
    assertThat(fixture.predicted(B)).isEqualTo(16);
    assertThat(fixture.count(StreamCounter.RECONNECTS)).isEqualTo(1);
  }

  @Test
  void reconnectThatCannotBeCheckedForgets() {
    StreamFixture fixture = StreamFixture.live(false);
    fixture.engine.serve(A);
    fixture.deliver(0);
    fixture.stream.disconnected();
    fixture.stream.connected();

    assertThat(fixture.trust()).isEqualTo(Trust.SUSPECT);
    assertThat(fixture.predicted(A)).isZero();
  }

  @Test
  void batchThatCannotBeReadSuspends() {
    StreamFixture fixture = StreamFixture.live(true);
    fixture.engine.serve(A).garbage().serve(B);
    fixture.deliver(0);
    fixture.deliver(1);
    assertThat(fixture.predicted(A)).isZero();
    assertThat(fixture.trust()).isEqualTo(Trust.SUSPECT);
    fixture.deliver(2);

    assertThat(fixture.predicted(B)).isEqualTo(16);
    assertThat(fixture.count(StreamCounter.UNDECODABLE_BATCHES)).isEqualTo(1);
    assertThat(fixture.count(StreamCounter.GAPS)).isZero();
  }

  @Test
  void removalThatCannotBeReadSuspends() {
    StreamFixture fixture = StreamFixture.live(true);
    fixture.engine.serve(A).unreadableRemoval(A, 0);
    fixture.deliver(0);
    fixture.deliver(1);

    assertThat(fixture.predicted(A)).isZero();
    assertThat(fixture.trust()).isEqualTo(Trust.SUSPECT);
    assertThat(fixture.count(StreamCounter.SKIPPED_EVENTS)).isEqualTo(1);
  }

  @Test
  void bufferThatOverflowsIsFilledFromTheEngine() {
    StreamFixture fixture = StreamFixture.live(true);
    fixture.engine.serve(A);
    fixture.deliver(0);
    for (int i = 0; i < 100; i++) {
      fixture.engine.serve(IntStream.range(1000 * i, 1000 * i + 9).toArray());
    }
    List<byte[]> soFar = new ArrayList<>(fixture.engine.published().subList(0, 20));
    for (int sequence = 2; sequence <= 100; sequence++) {
      fixture.deliver(sequence);
    }
    assertThat(fixture.count(StreamCounter.BUFFER_OVERFLOWS)).isEqualTo(99 - 64);
    long id = fixture.askedId;
    fixture.askedFrom = -1;
    for (int i = 0; i < soFar.size(); i++) {
      fixture.stream.replayed(id, new StreamMessage(i, soFar.get(i)));
    }
    fixture.stream.replayEnded(id, true);
    fixture.answer();

    assertThat(fixture.trust()).isEqualTo(Trust.EXACT);
    assertThat(fixture.predicted(A)).isEqualTo(16);
    assertThat(fixture.predicted(IntStream.range(99_000, 99_009).toArray())).isEqualTo(8);
  }

  @Test
  void knownResetForgetsBeforeTheEngineSaysSo() {
    StreamFixture fixture = StreamFixture.live(true);
    fixture.engine.serve(A);
    fixture.deliver(0);
    fixture.stream.cleared();
    assertThat(fixture.predicted(A)).isZero();
    assertThat(fixture.trust()).isEqualTo(Trust.EXACT);
  }

  @Test
  void knownResetHoldsAgainstWhatAReplayBringsLater() {
    StreamFixture fixture = StreamFixture.live(true);
    fixture.engine.serve(A).serve(B).serve(C);
    fixture.deliver(0);
    fixture.deliver(2);
    fixture.stream.cleared();
    fixture.answer();

    assertThat(fixture.predicted(A)).isZero();
    assertThat(fixture.predicted(B)).isZero();
    assertThat(fixture.predicted(C)).isZero();
  }

  @Test
  void answersToOldQuestionsAreIgnored() {
    StreamFixture fixture = StreamFixture.live(true);
    fixture.engine.serve(A).serve(B);
    fixture.deliver(1);
    long old = fixture.askedId;
    fixture.stream.restarted("told so");
    fixture.stream.replayed(old, new StreamMessage(0, fixture.engine.payload(0)));
    fixture.stream.replayEnded(old, true);

    assertThat(fixture.trust()).isEqualTo(Trust.CATCHING_UP);
    assertThat(fixture.predicted(A)).isZero();
  }

  @Test
  void replaySocketThatRemembersNothingIsNotTakenForCompleteness() {
    StreamFixture fixture = StreamFixture.live(true);
    fixture.engine.serve(A).evict(A, 0).serve(B).serve(C).serve(C);
    fixture.deliver(0);
    fixture.deliver(2);
    fixture.answer(List.of(), 0);
    assertThat(fixture.trust()).isEqualTo(Trust.NONE);
    assertThat(fixture.predicted(A)).isZero();

    fixture.deliver(3);
    fixture.answer(List.of(), 0);
    assertThat(fixture.trust()).isEqualTo(Trust.SUSPECT);
    assertThat(fixture.predicted(A)).isZero();
    assertThat(fixture.predicted(C)).isEqualTo(16);
  }

  @Test
  void whatNobodyAnsweredForIsAskedAgainFromTheBeginningOnceSomebodyDoes() {
    StreamFixture fixture = StreamFixture.live(true);
    fixture.engine.serve(A).serve(B).serve(C);
    fixture.deliver(0);
    fixture.deliver(2);
    fixture.refuse();
    assertThat(fixture.trust()).isEqualTo(Trust.SUSPECT);
    fixture.stream.tick();
    assertThat(fixture.asked()).as("not so soon").isFalse();

    fixture.clock.pass(StreamFixture.LIMITS.replayCooldown());
    fixture.stream.tick();
    assertThat(fixture.predicted(C)).as("nothing is forgotten for a question").isEqualTo(16);
    fixture.answer();

    assertThat(fixture.trust()).isEqualTo(Trust.EXACT);
    assertThat(fixture.predicted(A)).isEqualTo(16);
    assertThat(fixture.predicted(B)).isEqualTo(16);
    assertThat(fixture.predicted(C)).isEqualTo(16);
    assertThat(fixture.count(StreamCounter.RESTARTS)).isZero();
  }

  @Test
  void engineThatNeverAnswersKeepsWhatItLearned() {
    StreamFixture fixture = StreamFixture.live(true);
    fixture.engine.serve(A).serve(B).serve(C);
    fixture.deliver(0);
    fixture.deliver(2);
    fixture.refuse();
    for (int i = 1; i <= 5; i++) {
      fixture.clock.pass(StreamFixture.LIMITS.replayCooldown());
      fixture.stream.tick();
      assertThat(fixture.asked()).as("after a rest").isTrue();
      int[] prompt = IntStream.range(1000 * i, 1000 * i + 17).toArray();
      fixture.engine.serve(prompt);
      fixture.deliverLast();
      assertThat(fixture.predicted(prompt)).as("heard while nobody answers").isEqualTo(16);
      fixture.refuse();
      fixture.stream.tick();
      assertThat(fixture.asked()).as("not so soon").isFalse();
    }

    assertThat(fixture.trust()).isEqualTo(Trust.SUSPECT);
    assertThat(fixture.predicted(C)).isEqualTo(16);
  }

  @Test
  void knownLossIsRepairedBeforeTheNextBatchShowsIt() {
    StreamFixture fixture = StreamFixture.live(true);
    fixture.engine.serve(A).evict(A, 0);
    fixture.deliver(0);
    fixture.stream.liveRefused();
    assertThat(fixture.trust()).isEqualTo(Trust.CATCHING_UP);
    fixture.answer();

    assertThat(fixture.trust()).isEqualTo(Trust.EXACT);
    assertThat(fixture.predicted(A)).isZero();
  }

  @Test
  void knownLossWithoutReplaySuspends() {
    StreamFixture fixture = StreamFixture.live(false);
    fixture.engine.serve(A).evict(A, 0);
    fixture.deliver(0);
    fixture.stream.liveRefused();

    assertThat(fixture.trust()).isEqualTo(Trust.SUSPECT);
    assertThat(fixture.predicted(A)).isZero();
  }
}
