package dev.warmpath.eventingest.stream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineRules;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.eventingest.count.StreamCounter;
import java.time.Duration;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Stores that look plain and may not be are never credited, however late they come. */
final class HiddenTrafficTest {

  private static final int[] A = prompt(0);
  private static final int[] B = prompt(100);
  private static final int[] C = prompt(200);
  private static final int[] D = prompt(300);

  @Test
  void replayIsPlainAsLongAsNoRequestHid() {
    StreamFixture fixture = known();
    loseOne(fixture);
    assertThat(fixture.predicted(B)).isEqualTo(16);
    assertThat(fixture.predicted(C)).isEqualTo(16);
    assertThat(fixture.trust()).isEqualTo(Trust.EXACT);
  }

  @Test
  void replayAndWhatWaitedForItMayBeHiddenOnceARequestWas() {
    StreamFixture fixture = known();
    hide(fixture);
    loseOne(fixture);
    assertThat(fixture.predicted(A)).isEqualTo(16);
    assertThat(fixture.predicted(B)).as("replayed").isZero();
    assertThat(fixture.predicted(C)).as("waited").isZero();
    assertThat(fixture.count(StreamCounter.HIDDEN_BLOCKS)).isEqualTo(8);
    assertThat(fixture.trust()).isEqualTo(Trust.SUSPECT);
    assertThat(fixture.stream.trust().reason()).contains("name space that events do not show");

    fixture.engine.serve(D);
    fixture.deliverLast();
    assertThat(fixture.predicted(D)).as("live").isEqualTo(16);
    fixture.engine.clear();
    fixture.deliverLast();
    assertThat(fixture.trust()).as("nothing is missing of nothing").isEqualTo(Trust.EXACT);
  }

  @Test
  void nobodyKnowsOfWhatCameBeforeTheFirstContact() {
    StreamFixture fixture = joined(true);
    assertThat(fixture.predicted(A)).isZero();
    assertThat(fixture.trust()).isEqualTo(Trust.SUSPECT);

    fixture.engine.serve(B);
    fixture.deliverLast();
    assertThat(fixture.predicted(B)).as("an earlier router may have asked for it").isZero();
    fixture.applier.traffic().watching();
    fixture.engine.serve(C);
    fixture.deliverLast();
    assertThat(fixture.predicted(C)).isEqualTo(16);
    loseOne(fixture, D, prompt(400));
    assertThat(fixture.predicted(D)).as("this router saw all requests since").isEqualTo(16);
  }

  @Test
  void operatorMayKnow() {
    StreamFixture fixture = joined(false);
    assertThat(fixture.predicted(A)).isEqualTo(16);
    assertThat(fixture.trust()).isEqualTo(Trust.EXACT);

    hide(fixture);
    loseOne(fixture);
    assertThat(fixture.predicted(B)).as("he did not").isZero();
  }

  @Test
  void processThatFollowsOneThatWasHeardIsKnownFromItsBegin() {
    StreamFixture fixture = joined(true);
    fixture.engine.restart().serve(B);
    fixture.stream.restarted("the process started at another time");
    fixture.answer();
    assertThat(fixture.predicted(B)).isEqualTo(16);
    assertThat(fixture.trust()).isEqualTo(Trust.EXACT);
  }

  @Test
  void processThatShowsOtherBytesIsKnownToo() {
    StreamFixture fixture = joined(true);
    fixture.stream.disconnected();
    fixture.engine.restart().serve(B).serve(C);
    fixture.stream.connected();
    fixture.answer();
    assertThat(fixture.predicted(B)).isEqualTo(16);
    assertThat(fixture.predicted(C)).isEqualTo(16);
  }

  @Test
  void processThatMayBeTheSameIsNotKnown() {
    StreamFixture fixture = joined(true);
    fixture.stream.disconnected();
    fixture.engine.serve(B).serve(C);
    fixture.stream.connected();
    fixture.answer(fixture.engine.published(), 1);
    assertThat(fixture.predicted(B)).isZero();
    assertThat(fixture.predicted(C)).isZero();
  }

  @Test
  void routerThatEndedVouchesForWhatComesBehindItsLastSnapshot() {
    StreamFixture before = known();
    StreamMemory memory = Objects.requireNonNull(before.stream.memory());
    before.engine.serve(B);
    StreamFixture after = resumed(before, memory);
    assertThat(after.predicted(A)).isEqualTo(16);
    assertThat(after.predicted(B)).isEqualTo(16);
    assertThat(after.trust()).isEqualTo(Trust.EXACT);
  }

  @Test
  void routerThatWasKilledDoesNot() {
    StreamFixture before = known();
    StreamMemory memory = Objects.requireNonNull(before.stream.memory());
    hide(before);
    before.engine.serve(B);
    StreamFixture after = resumed(before, memory.unwatched());
    assertThat(after.predicted(A)).isEqualTo(16);
    assertThat(after.predicted(B)).isZero();
    assertThat(after.trust()).isEqualTo(Trust.SUSPECT);

    StreamFixture again = resumed(after, Objects.requireNonNull(after.stream.memory()));
    again.applier.traffic().watching();
    again.engine.serve(C);
    again.deliverLast();
    assertThat(again.predicted(C)).isEqualTo(16);
  }

  @Test
  void hiddenRequestIsRemembered() {
    StreamFixture before = known();
    hide(before);
    StreamMemory memory = Objects.requireNonNull(before.stream.memory());
    before.engine.serve(B);
    StreamFixture after = resumed(before, memory);
    assertThat(after.predicted(B)).isZero();
    after.engine.serve(C);
    after.deliverLast();
    assertThat(after.predicted(C)).as("it may still be under way").isZero();
    after.applier.traffic().watching();
    loseOne(after, D, prompt(400));
    assertThat(after.predicted(D)).isZero();
  }

  @Test
  void otherProcessThanTheSnapshotsMayHaveHadAnyRequests() {
    StreamFixture before = known();
    StreamMemory memory = Objects.requireNonNull(before.stream.memory()).unwatched();
    before.engine.restart().serve(B);
    StreamFixture after = resumed(before, memory);
    assertThat(after.predicted(A)).isZero();
    assertThat(after.predicted(B)).isZero();
    assertThat(after.trust()).isEqualTo(Trust.SUSPECT);
  }

  @Test
  void processThatNobodyShowedToRunIsNoneThatWasHeard() {
    StreamFixture before = known();
    before.stream.runsSince(100);
    StreamMemory memory = Objects.requireNonNull(before.stream.memory()).unwatched();
    before.engine.restart().serve(B); // the router that is killed then sends what hides
    StreamFixture after = before.resumed(memory, (outcome, why) -> {});
    after.stream.connected();
    after.refuse();
    after.clock.pass(Duration.ofSeconds(61));
    after.stream.tick();
    after.refuse();
    after.clock.pass(Duration.ofSeconds(31));
    after.stream.runsSince(200);
    after.answer();
    assertThat(after.predicted(B)).as("it began before this router").isZero();
    assertThat(after.trust()).isNotEqualTo(Trust.EXACT);
  }

  @Test
  void replaySocketThatAnswersAgainTakesNothingAway() {
    StreamFixture fixture = known();
    hide(fixture);
    fixture.engine.serve(B).serve(C);
    fixture.deliverLast();
    fixture.refuse();
    fixture.engine.serve(D);
    fixture.deliverLast();
    fixture.engine.serve(A);
    fixture.deliverLast();
    assertThat(fixture.predicted(A)).isEqualTo(16);
    assertThat(fixture.predicted(D)).isEqualTo(16);

    fixture.clock.pass(Duration.ofSeconds(31));
    fixture.stream.tick();
    fixture.answer();
    assertThat(fixture.predicted(D)).as("no replay would bring it back").isEqualTo(16);
    assertThat(fixture.predicted(A)).isEqualTo(16);
    assertThat(fixture.trust()).isEqualTo(Trust.SUSPECT);
  }

  @Test
  void batchMayHaveWaitedForTheConnection() {
    StreamFixture fixture = StreamFixture.live(false, source(true));
    fixture.engine.serve(A);
    fixture.deliver(0);
    hide(fixture);
    fixture.stream.disconnected();
    fixture.engine.serve(B); // hidden, and kept by the engine until the router is back
    fixture.clock.pass(Duration.ofSeconds(60));
    fixture.stream.connected();
    fixture.deliver(1);
    assertThat(fixture.predicted(B)).isZero();

    fixture.clock.pass(Duration.ofSeconds(30));
    fixture.engine.serve(C);
    fixture.deliver(2);
    assertThat(fixture.predicted(C)).isEqualTo(16);
  }

  private static StreamFixture resumed(StreamFixture before, StreamMemory memory) {
    StreamFixture after = before.resumed(memory, (outcome, why) -> {});
    after.stream.connected();
    after.answer();
    return after;
  }

  /** A router that has followed the engine from its first batch on. */
  private static StreamFixture known() {
    StreamFixture fixture = StreamFixture.live(true, source(true));
    fixture.engine.serve(A);
    fixture.deliver(0);
    assertThat(fixture.predicted(A)).isEqualTo(16);
    return fixture;
  }

  /** A router that comes when the engine has stored A. */
  private static StreamFixture joined(boolean hiddenNamespaces) {
    StreamFixture fixture = new StreamFixture(true, source(hiddenNamespaces));
    fixture.engine.serve(A);
    fixture.stream.connected();
    fixture.answer();
    return fixture;
  }

  /** A request in a hidden name space comes and goes. */
  private static void hide(StreamFixture fixture) {
    fixture.applier.traffic().sawHidden();
    fixture.applier.traffic().underWay(true);
    fixture.applier.traffic().underWay(false);
  }

  private static void loseOne(StreamFixture fixture) {
    loseOne(fixture, B, C);
  }

  /** The batch of one prompt is lost, that of the next shows it, and a replay brings it. */
  private static void loseOne(StreamFixture fixture, int[] lost, int[] next) {
    fixture.engine.serve(lost).serve(next);
    fixture.deliverLast();
    assertThat(fixture.asked()).isTrue();
    fixture.answer();
  }

  private static EngineSource source(boolean hiddenNamespaces) {
    EngineDialect trtllm = EngineDialect.TRTLLM;
    EngineRules rules = new EngineRules(trtllm, 0, trtllm.removals(), 0, hiddenNamespaces);
    return new EngineSource(new EngineId("r", 0), "m", "tcp://x", false, null, rules);
  }

  private static int[] prompt(int first) {
    return IntStream.range(first, first + 17).toArray();
  }
}
