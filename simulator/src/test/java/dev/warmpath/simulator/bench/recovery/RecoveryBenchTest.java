package dev.warmpath.simulator.bench.recovery;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class RecoveryBenchTest {

  @TempDir private Path dir;

  @Test
  @Timeout(180)
  void killedRouterKnowsEverythingAgainAndNothingMore() throws Exception {
    RecoveryReport report = new RecoveryBench(20_000, dir, 200, line -> {}).run(2);

    assertThat(report.memberships()).isGreaterThan(20_000);
    assertThat(report.recoveredShare()).isEqualTo(1);
    assertThat(report.overCredits()).isZero();
    assertThat(report.underCredits()).isZero();
    assertThat(report.secondsToReady()).isPositive();
    assertThat(report.snapshot().bytes()).isPositive();
  }

  @Test
  void conversationsAreAsTheirNumberSays() {
    Conversation a = new Conversation(5);
    assertThat(a.tokens(3, 40)).isEqualTo(new Conversation(5).tokens(3, 40));
    assertThat(a.tokens(20, 21)).isNotEqualTo(new Conversation(6).tokens(20, 21));
    assertThat(a.hash(20)).isEqualTo(new Conversation(5).hash(20)).isNotEqualTo(a.hash(21));
    assertThat(a.blocks()).isBetween(32, 511);
  }
}
