package dev.warmpath.router.fleet.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class SuspensionTest {

  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private final Suspension suspension = new Suspension();

  @Test
  void needsThreeFailuresInARow() {
    fail(2, 0);
    suspension.answered();
    fail(2, 0);
    assertThat(suspension.active(0)).isFalse();
    fail(1, 0);
    assertThat(suspension.active(0)).isTrue();
  }

  @Test
  void theCircuitOpensAndIsHalfOpenUntilAnAnswer() {
    assertThat(suspension.circuit(0)).isEqualTo(Suspension.Circuit.CLOSED);
    fail(3, 0);
    assertThat(suspension.circuit(SECOND - 1)).isEqualTo(Suspension.Circuit.OPEN);
    assertThat(suspension.circuit(SECOND)).isEqualTo(Suspension.Circuit.HALF_OPEN);
    suspension.answered();
    assertThat(suspension.circuit(SECOND)).isEqualTo(Suspension.Circuit.CLOSED);
    suspension.rest(1, SECOND);
    assertThat(suspension.circuit(SECOND)).isEqualTo(Suspension.Circuit.OPEN);
    assertThat(suspension.circuit(2 * SECOND)).isEqualTo(Suspension.Circuit.CLOSED);
  }

  @Test
  void endsByItself() {
    fail(3, 0);
    assertThat(suspension.active(SECOND - 1)).isTrue();
    assertThat(suspension.active(SECOND)).isFalse();
  }

  @Test
  void eachFurtherFailureDoublesIt() {
    fail(3, 0);
    suspension.failed(SECOND);
    assertThat(suspension.active(3 * SECOND - 1)).isTrue();
    assertThat(suspension.active(3 * SECOND)).isFalse();
  }

  @Test
  void failuresWhileItLastsDoNotMakeItLonger() {
    fail(100, 0);
    suspension.failed(SECOND - 1);
    assertThat(suspension.active(SECOND)).isFalse();
  }

  @Test
  void isNeverLongerThanHalfAMinute() {
    long now = 0;
    for (int i = 0; i < 1000; i++) {
      suspension.failed(now);
      now += 30 * SECOND;
    }
    long last = now - 30 * SECOND;
    assertThat(suspension.active(last + 30 * SECOND - 1)).isTrue();
    assertThat(suspension.active(last + 30 * SECOND)).isFalse();
  }

  @Test
  void anAnswerEndsIt() {
    fail(5, 0);
    suspension.answered();
    assertThat(suspension.active(0)).isFalse();
  }

  @Test
  void afterItsTimeOneProbeAtATime() {
    fail(3, 0);
    assertThat(suspension.chosen()).isTrue();
    assertThat(suspension.active(SECOND)).isTrue();
    suspension.probeEnded();
    assertThat(suspension.active(SECOND)).isFalse();
    assertThat(suspension.chosen()).isTrue();
    suspension.failed(SECOND);
    assertThat(suspension.active(3 * SECOND - 1)).isTrue();
    assertThat(suspension.active(3 * SECOND)).isFalse();
    suspension.answered();
    assertThat(suspension.chosen()).isFalse();
    assertThat(suspension.active(3 * SECOND)).isFalse();
  }

  private void fail(int times, long nowNanos) {
    for (int i = 0; i < times; i++) {
      suspension.failed(nowNanos);
    }
  }
}
