package dev.warmpath.router.health;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.fleet.Replica.Health;
import org.junit.jupiter.api.Test;

class StreakTest {

  @Test
  void theFirstGoodCheckCountsAndThenItTakesARow() {
    HealthChecker.Streak streak = new HealthChecker.Streak();
    assertThat(verdicts(streak, "-+")).isEqualTo("DU");
    assertThat(verdicts(streak, "--+--")).isEqualTo("UUUUU");
    assertThat(verdicts(streak, "-")).isEqualTo("D");
    assertThat(verdicts(streak, "+-+-++")).isEqualTo("DDDDDU");
  }

  private static String verdicts(HealthChecker.Streak streak, String checks) {
    StringBuilder seen = new StringBuilder();
    for (char check : checks.toCharArray()) {
      seen.append(streak.after(check == '+', 2, 3) == Health.UP ? 'U' : 'D');
    }
    return seen.toString();
  }
}
