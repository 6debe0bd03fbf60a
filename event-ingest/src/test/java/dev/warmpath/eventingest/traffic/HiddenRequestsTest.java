package dev.warmpath.eventingest.traffic;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.MovableClock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import org.junit.jupiter.api.Test;

/** When the watch begins, and when hidden requests count as ended. */
final class HiddenRequestsTest {

  private static final Duration LONG_ENOUGH = Duration.ofSeconds(31);

  private final MovableClock clock = new MovableClock();
  private final TrafficWatch traffic = new TrafficWatch(true);
  private final Queue<Runnable> waiting = new ArrayDeque<>();
  private final HiddenRequests requests = new HiddenRequests(traffic, clock, waiting::add);

  @Test
  void theWatchBeginsThirtySecondsBehindTheFirstConnection() {
    pass(Duration.ofMinutes(5));
    requests.connected();
    pass(Duration.ofSeconds(29));
    assertThat(watches(7)).isFalse();
    pass(Duration.ofSeconds(2));
    assertThat(watches(8)).isTrue();
  }

  @Test
  void anotherConnectionDoesNotBeginItAnew() {
    requests.connected();
    pass(Duration.ofSeconds(20));
    requests.connected();
    pass(Duration.ofSeconds(11));
    assertThat(watches(8)).isTrue();
  }

  @Test
  void whoStoodStillWaitsAnew() {
    requests.connected();
    pass(Duration.ofSeconds(20));
    clock.pass(Duration.ofSeconds(6));
    pass(Duration.ofSeconds(29));
    assertThat(watches(7)).isFalse();
    pass(Duration.ofSeconds(3));
    assertThat(watches(8)).isTrue();
  }

  @Test
  void oneIsUnderWayUntilThirtySecondsBehindItsEnd() {
    requests.connected();
    requests.began();
    requests.began();
    requests.ended();
    write();
    pass(LONG_ENOUGH);
    assertThat(traffic.isUnderWay()).as("one goes on").isTrue();
    requests.ended();
    write();
    pass(Duration.ofSeconds(29));
    assertThat(traffic.isUnderWay()).isTrue();
    pass(Duration.ofSeconds(2));
    assertThat(traffic.isUnderWay()).isFalse();
  }

  @Test
  void oneThatBeganBeforeTheEndWasWrittenKeepsIt() {
    requests.connected();
    requests.began();
    requests.ended();
    write();
    for (int i = 0; i < 31; i++) {
      write();
      clock.pass(Duration.ofSeconds(1));
      requests.tick();
    }
    assertThat(waiting).as("the end waits to be written").isNotEmpty();
    Runnable end = waiting.remove();
    requests.began();
    write();
    end.run();
    assertThat(traffic.isUnderWay()).isTrue();
  }

  @Test
  void nothingEndsWhileTheEngineIsNotConnected() {
    requests.began();
    requests.ended();
    pass(Duration.ofMinutes(5));
    assertThat(traffic.isUnderWay()).isTrue();
  }

  private void pass(Duration time) {
    for (long i = 0; i < time.toSeconds(); i++) {
      write();
      clock.pass(Duration.ofSeconds(1));
      requests.tick();
    }
    write();
  }

  private void write() {
    for (Runnable work = waiting.poll(); work != null; work = waiting.poll()) {
      work.run();
    }
  }

  private boolean watches(long sequence) {
    traffic.hears(sequence);
    return traffic.watchedFrom() == sequence;
  }
}
