package dev.warmpath.router.health;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.fleet.EngineEvents;
import dev.warmpath.router.fleet.Replica;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RestartDetectorTest {

  private static final String CONFIG =
      "vllm:cache_config_info{block_size=\"16\",num_gpu_blocks=\"%d\"} 1.0\n";

  private final List<String> heard = new ArrayList<>();
  private final List<Double> starts = new ArrayList<>();
  private long gpuBlocks = -1;
  private final Replica replica = new Replica("a", URI.create("http://h:1"), Set.of(), 1);
  private final RestartDetector watch =
      new RestartDetector(
          replica,
          new EngineEvents() {
            @Override
            public void unchanged(Replica replica) {}

            @Override
            public void restarted(Replica replica, String why) {
              heard.add("restarted: " + why);
            }

            @Override
            public void recovered(Replica replica) {}

            @Override
            public void runsSince(Replica replica, double startSeconds) {
              starts.add(startSeconds);
            }

            @Override
            public void gpuBlocks(Replica replica, long blocks) {
              gpuBlocks = blocks;
            }

            @Override
            public void cleared(Replica replica, String why) {
              heard.add("cleared: " + why);
            }
          });

  @Test
  void otherStartTimeCountsOnceItIsSeenTwice() {
    see(start(1.7e9), start(1.7e9), start(1.8e9));
    assertThat(heard).isEmpty();

    see(start(1.8e9), start(1.8e9), start(1.8e9));
    assertThat(heard).containsExactly("restarted: the process started at another time");
  }

  @Test
  void pagesOfSeveralServersTellNothing() {
    see(start(1.7e9), start(1.8e9), start(1.7e9), start(1.8e9), start(1.7e9));
    assertThat(heard).isEmpty();
  }

  @Test
  void startIsToldWheneverTwoPagesAgree() {
    see(start(1.7e9), "", start(1.7e9), start(1.7e9), start(1.7e9), start(1.8e9));
    assertThat(starts).containsExactly(1.7e9, 1.7e9);
  }

  @Test
  void pageThatSaysNothingIsNoRestart() {
    see(start(1.7e9), start(1.7e9), "", "", start(1.7e9), start(1.7e9));
    assertThat(heard).isEmpty();
  }

  @Test
  void sleepClearsOnceAtItsBegin() {
    see(awake(1), awake(1), awake(0), awake(0), awake(1), awake(0));
    assertThat(heard).containsExactly("cleared: the engine sleeps", "cleared: the engine sleeps");
  }

  @Test
  void otherCacheIsAnotherLifetime() {
    String before = start(1.7e9) + CONFIG.formatted(100);
    String after = start(1.7e9) + CONFIG.formatted(200);
    see(before, before, after, after, after);
    assertThat(heard).containsExactly("restarted: the cache was configured anew");
  }

  @Test
  void sizeOfTheCacheIsToldOnceItIsSeenTwice() {
    see(CONFIG.formatted(100));
    assertThat(gpuBlocks).isEqualTo(-1);
    see(CONFIG.formatted(100));
    assertThat(gpuBlocks).isEqualTo(100).isEqualTo(replica.gpuBlocks());
    String none = "vllm:cache_config_info{num_gpu_blocks=\"None\",num_gpu_blocks_override=\"7\"} 1";
    see(none, none);
    assertThat(gpuBlocks).isZero();
  }

  @Test
  void nonsenseIsNotKnown() {
    MetricsPage metrics =
        MetricsPage.read(
            "process_start_time_seconds x\nvllm:cache_config_info{\n# HELP\n".getBytes(UTF_8));
    assertThat(metrics.startSeconds()).isNaN();
    assertThat(metrics.asleep()).isFalse();
  }

  private void see(String... pages) {
    for (String page : pages) {
      watch.isRestarted(MetricsPage.read(page.getBytes(UTF_8)));
    }
  }

  private static String start(double seconds) {
    return "# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds " + seconds + "\n";
  }

  private static String awake(int awake) {
    return start(1.7e9)
        + "vllm:engine_sleep_state{engine=\"0\",sleep_state=\"awake\"} "
        + awake
        + ".0\nvllm:engine_sleep_state{engine=\"0\",sleep_state=\"discard_all\"} 0.0\n";
  }
}
