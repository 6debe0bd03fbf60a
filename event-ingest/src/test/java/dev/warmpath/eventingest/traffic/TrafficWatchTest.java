package dev.warmpath.eventingest.traffic;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** From which batch on none can be of a request in a hidden name space, once one was seen. */
final class TrafficWatchTest {

  private final TrafficWatch watch = new TrafficWatch(true);

  @Test
  void lateBatchesMayBeHiddenUntilALiveOneCameBehindTheLastSuchRequest() {
    hearFromTheStart();
    hide();
    live(5);
    watch.underWay(false);
    assertThat(mayHideLate(6)).as("nothing was heard since").isTrue();

    live(9);
    assertThat(watch.mayHide()).isFalse();
    assertThat(mayHideLate(8)).as("may have come before the request ended").isTrue();
    assertThat(mayHideLate(9)).isFalse();
    assertThat(mayHideLate(10)).isFalse();
    live(12);
    assertThat(mayHideLate(10)).as("the first live one counts").isFalse();
  }

  @Test
  void batchThatIsAppliedLateProvesNothing() {
    hearFromTheStart();
    hide();
    watch.underWay(false);
    watch.hears(9);
    watch.heard();
    watch.applies(9);
    assertThat(watch.mayHide()).isTrue();
    assertThat(mayHideLate(10)).isTrue();
  }

  @Test
  void batchHeardWhileOneIsUnderWayProvesNothing() {
    hearFromTheStart();
    hide();
    live(5);
    assertThat(watch.mayHide()).isTrue();
    assertThat(mayHideLate(6)).isTrue();
    watch.underWay(false);
    assertThat(mayHideLate(6)).isTrue();
  }

  @Test
  void nextRequestTakesItBack() {
    hideAndEnd();
    assertThat(mayHideLate(9)).isFalse();
    hide();
    assertThat(mayHideLate(9)).isTrue();
    watch.underWay(false);
    assertThat(mayHideLate(9)).isTrue();
    live(20);
    assertThat(mayHideLate(19)).isTrue();
    assertThat(mayHideLate(20)).isFalse();
  }

  @Test
  void otherProcessTakesItBack() {
    hideAndEnd();
    watch.anotherProcess(true);
    assertThat(mayHideLate(10)).isTrue();
    live(11);
    assertThat(mayHideLate(11)).isFalse();
  }

  @Test
  void restoredWatchKnowsNothingBeforeItHasListened() {
    LifetimeFacts facts = new LifetimeFacts(false, LifetimeFacts.NO_CHUNKS, true, 0);
    watch.resume(facts);
    live(9);
    watch.watching();
    assertThat(mayHideLate(9)).isTrue();
    live(10);
    assertThat(mayHideLate(9)).isTrue();
    assertThat(mayHideLate(10)).isFalse();
    watch.resume(facts);
    watch.watching();
    assertThat(mayHideLate(10)).isTrue();
  }

  @Test
  void replayFromTheBeginIsBelievedIfAllOfItCameBehind() {
    hideAndEnd();
    assertThat(watch.believesReplays()).isFalse();
    watch.anotherProcess(true);
    assertThat(watch.believesReplays()).isFalse();
    live(0);
    assertThat(watch.believesReplays()).isTrue();
    assertThat(mayHideLate(0)).isFalse();
    hide();
    assertThat(watch.believesReplays()).isFalse();
  }

  @Test
  void slowerTiersMayHoldIt() {
    hideAndEnd();
    assertThat(watch.mayHide()).isFalse();
    assertThat(watch.mayHoldHidden()).isTrue();
    watch.applies(12);
    watch.emptied();
    assertThat(watch.mayHoldHidden()).as("a late batch that may be believed").isFalse();
  }

  private void hideAndEnd() {
    hearFromTheStart();
    hide();
    watch.underWay(false);
    live(9);
  }

  private void hearFromTheStart() {
    live(0);
    watch.watching();
  }

  private void hide() {
    watch.sawHidden();
    watch.underWay(true);
  }

  private void live(long sequence) {
    watch.hears(sequence);
    watch.applies(sequence);
    watch.heard();
  }

  private boolean mayHideLate(long sequence) {
    watch.applies(sequence);
    return watch.mayHide();
  }
}
