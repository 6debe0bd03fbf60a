package dev.warmpath.lab.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.lab.ingest.RecoveryEngine.Conversation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class RecoveryBenchTest {

  @TempDir private Path dir;

  @Test
  @Timeout(180)
  void killedRouterKnowsEverythingAgainAndNothingMore() throws Exception {
    RecoveryBench.RecoveryReport report = new RecoveryBench(20_000, dir, 200, line -> {}).run(2);

    assertThat(report.memberships()).isEqualTo(20_000);
    assertThat(report.recoveredShare()).isEqualTo(1);
    assertThat(report.overCredits()).isZero();
    assertThat(report.underCredits()).isZero();
    assertThat(report.secondsToReady()).isPositive();
    assertThat(report.snapshot().bytes()).isPositive();
  }

  @Test
  @Timeout(180)
  void nothingToRecoverIsSaidAtOnceAndWhy() throws Exception {
    assertThatThrownBy(() -> new RecoveryBench(20_000, dir, 200, line -> {}).run(2, 5_000))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("of 20,000 blocks, so that there is nothing to recover:")
        .hasMessageContaining("replica-1 is up, its events suspect: more was announced than the");
    assertThat(Files.readString(dir.resolve("router.log")))
        .containsPattern(
            "WARN .* engine=replica-1/0 is not credited with what it held:"
                + " more was announced than the 5313 blocks");
  }

  @Test
  void conversationsAreAsTheirNumberSays() {
    long[] names = new Conversation(5).names();

    assertThat(names).isEqualTo(new Conversation(5).names()).doesNotHaveDuplicates();
    assertThat(names[20]).isNotEqualTo(new Conversation(6).names()[20]);
    assertThat(names.length).isBetween(32, 511);
  }
}
