package dev.warmpath.router.health;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.fleet.Replica;
import java.net.URI;
import java.util.Set;
import org.junit.jupiter.api.Test;

class LearnedLimitTest {

  private final Replica replica = new Replica("a", URI.create("http://a"), Set.of(), 2);

  @Test
  void fallsToWhatDoesNotWait() {
    inFlight(100);
    HealthChecker.LearnedLimit.learn(replica, waiting("20.0", "4.0"), 4);
    assertThat(replica.limit()).isEqualTo(80);
    HealthChecker.LearnedLimit.learn(replica, waiting("0.0", "4.0"), 4);
    assertThat(replica.limit()).as("as many may wait").isEqualTo(88);
  }

  @Test
  void risesOnlyWhenItIsNearlyReached() {
    replica.limit(50);
    inFlight(20);
    HealthChecker.LearnedLimit.learn(replica, waiting("0.0", "0.0"), 4);
    assertThat(replica.limit()).isEqualTo(50);
    inFlight(25);
    HealthChecker.LearnedLimit.learn(replica, waiting("0.0", "0.0"), 4);
    assertThat(replica.limit()).isEqualTo(55);
  }

  @Test
  void neverShutsOut() {
    inFlight(3);
    HealthChecker.LearnedLimit.learn(replica, waiting("1e9", "0"), 4);
    assertThat(replica.limit()).isEqualTo(1);
  }

  @Test
  void staysUnknownWithoutWordOrWish() {
    inFlight(100);
    HealthChecker.LearnedLimit.learn(
        replica, MetricsPage.read("vllm:num_requests_running{} 7\n".getBytes(UTF_8)), 4);
    HealthChecker.LearnedLimit.learn(replica, waiting("50", "50"), 0);
    assertThat(replica.limit()).isEqualTo(Replica.NO_LIMIT);
  }

  @Test
  void readsSglangsQueueToo() {
    assertThat(
            MetricsPage.read("sglang:num_queue_reqs{tp_rank=\"0\"} 3.0\n".getBytes(UTF_8))
                .waiting())
        .isEqualTo(3);
  }

  private void inFlight(int requests) {
    for (int i = 0; i < requests; i++) {
      replica.began(0, 0);
    }
  }

  private static MetricsPage waiting(String first, String second) {
    String page =
        "vllm:num_requests_waiting{engine=\"0\",model_name=\"m\"} %s\n".formatted(first)
            + "vllm:num_requests_waiting{engine=\"1\",model_name=\"m\"} %s\n".formatted(second);
    return MetricsPage.read(page.getBytes(UTF_8));
  }
}
