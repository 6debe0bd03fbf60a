package dev.warmpath.router.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class EjectionTest {

  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private final Ejection ejection = new Ejection();

  @Test
  void needsThreeFailuresInARow() {
    fail(2, 0);
    ejection.answered();
    fail(2, 0);
    assertThat(ejection.isEjected(0)).isFalse();
    fail(1, 0);
    assertThat(ejection.isEjected(0)).isTrue();
  }

  @Test
  void theCircuitOpensAndIsHalfOpenUntilAnAnswer() {
    assertThat(ejection.circuit(0)).isEqualTo(Ejection.Circuit.CLOSED);
    fail(3, 0);
    assertThat(ejection.circuit(SECOND - 1)).isEqualTo(Ejection.Circuit.OPEN);
    assertThat(ejection.circuit(SECOND)).isEqualTo(Ejection.Circuit.HALF_OPEN);
    ejection.answered();
    assertThat(ejection.circuit(SECOND)).isEqualTo(Ejection.Circuit.CLOSED);
    ejection.rest(1, SECOND);
    assertThat(ejection.circuit(SECOND)).isEqualTo(Ejection.Circuit.OPEN);
    assertThat(ejection.circuit(2 * SECOND)).isEqualTo(Ejection.Circuit.CLOSED);
  }

  @Test
  void endsByItself() {
    fail(3, 0);
    assertThat(ejection.isEjected(SECOND - 1)).isTrue();
    assertThat(ejection.isEjected(SECOND)).isFalse();
  }

  @Test
  void eachFurtherFailureDoublesIt() {
    fail(3, 0);
    ejection.failed(SECOND);
    assertThat(ejection.isEjected(3 * SECOND - 1)).isTrue();
    assertThat(ejection.isEjected(3 * SECOND)).isFalse();
  }

  @Test
  void failuresWhileItLastsDoNotMakeItLonger() {
    fail(100, 0);
    ejection.failed(SECOND - 1);
    assertThat(ejection.isEjected(SECOND)).isFalse();
  }

  @Test
  void isNeverLongerThanHalfAMinute() {
    long now = 0;
    for (int i = 0; i < 1000; i++) {
      ejection.failed(now);
      now += 30 * SECOND;
    }
    long last = now - 30 * SECOND;
    assertThat(ejection.isEjected(last + 30 * SECOND - 1)).isTrue();
    assertThat(ejection.isEjected(last + 30 * SECOND)).isFalse();
  }

  @Test
  void anAnswerEndsIt() {
    fail(5, 0);
    ejection.answered();
    assertThat(ejection.isEjected(0)).isFalse();
  }

  @Test
  void afterItsTimeOneProbeAtATime() {
    fail(3, 0);
    assertThat(ejection.chosen()).isTrue();
    assertThat(ejection.isEjected(SECOND)).isTrue();
    ejection.probeEnded();
    assertThat(ejection.isEjected(SECOND)).isFalse();
    assertThat(ejection.chosen()).isTrue();
    ejection.failed(SECOND);
    assertThat(ejection.isEjected(3 * SECOND - 1)).isTrue();
    assertThat(ejection.isEjected(3 * SECOND)).isFalse();
    ejection.answered();
    assertThat(ejection.chosen()).isFalse();
    assertThat(ejection.isEjected(3 * SECOND)).isFalse();
  }

  private void fail(int times, long nowNanos) {
    for (int i = 0; i < times; i++) {
      ejection.failed(nowNanos);
    }
  }
}
