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
  void endsByItself() {
    fail(3, 0);
    assertThat(suspension.active(SECOND - 1)).isTrue();
    assertThat(suspension.active(SECOND)).isFalse();
  }

  @Test
  void eachFurtherFailureDoublesIt() {
    fail(4, 0);
    assertThat(suspension.active(2 * SECOND - 1)).isTrue();
    assertThat(suspension.active(2 * SECOND)).isFalse();
  }

  @Test
  void isNeverLongerThanHalfAMinute() {
    fail(1000, 0);
    assertThat(suspension.active(30 * SECOND - 1)).isTrue();
    assertThat(suspension.active(30 * SECOND)).isFalse();
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
