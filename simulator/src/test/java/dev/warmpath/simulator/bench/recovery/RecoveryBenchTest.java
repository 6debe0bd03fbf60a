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

    assertThat(report.memberships()).isEqualTo(20_000);
    assertThat(report.recoveredShare()).isEqualTo(1);
    assertThat(report.overCredits()).isZero();
    assertThat(report.underCredits()).isZero();
    assertThat(report.secondsToReady()).isPositive();
    assertThat(report.snapshot().bytes()).isPositive();
  }

  @Test
  void conversationsAreAsTheirNumberSays() {
    long[] names = new Conversation(5).names();

    assertThat(names).isEqualTo(new Conversation(5).names()).doesNotHaveDuplicates();
    assertThat(names[20]).isNotEqualTo(new Conversation(6).names()[20]);
    assertThat(names.length).isBetween(32, 511);
  }
}
