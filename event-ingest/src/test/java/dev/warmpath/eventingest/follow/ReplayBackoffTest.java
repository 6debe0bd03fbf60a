package dev.warmpath.eventingest.follow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.follow.IngestOptions.BackoffLimits;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class ReplayBackoffTest {

  @Test
  void waitsLongerWithEachFailureUpToABound() {
    ReplayBackoff backoff = new ReplayBackoff(BackoffLimits.DEFAULT, 3);
    assertThat(backoff.delayMillis()).isZero();
    for (long due : new long[] {250, 1000, 4000, 8000, 8000}) {
      backoff.answered(false);
      assertThat(backoff.delayMillis()).isBetween(due / 2, due);
    }
    backoff.answered(true);
    assertThat(backoff.delayMillis()).isZero();
  }

  @Test
  void enginesThatFailTogetherAreNotAskedTogether() {
    Set<Long> delays = new HashSet<>();
    for (int slot = 0; slot < 128; slot++) {
      ReplayBackoff backoff = new ReplayBackoff(BackoffLimits.DEFAULT, slot);
      backoff.answered(false);
      backoff.answered(false);
      delays.add(backoff.delayMillis());
    }
    assertThat(delays).hasSizeGreaterThan(80);
  }
}
