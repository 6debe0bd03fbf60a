package dev.warmpath.router.health;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.fleet.OtherLoad;
import dev.warmpath.router.fleet.Replica;
import java.net.URI;
import java.util.Set;
import org.junit.jupiter.api.Test;

class OtherLoadWatchTest {

  private final Replica replica = new Replica("a", URI.create("http://a"), Set.of(), 1);
  private final OtherLoadWatch watch = new OtherLoadWatch(replica);

  @Test
  void whatTwoPagesShowIsBelieved() {
    see(vllm(5, 3, 0.5));
    assertThat(replica.otherLoad(0)).isEqualTo(OtherLoad.NONE);
    see(vllm(9, 4, 0.6));
    assertThat(replica.otherLoad(0)).isEqualTo(new OtherLoad(5, 3, 0.5));
    see(vllm(1, 0, 0.1));
    assertThat(replica.otherLoad(0)).isEqualTo(new OtherLoad(1, 0, 0.1));
  }

  @Test
  void ownRequestsAreNotOthers() {
    for (int i = 0; i < 6; i++) {
      replica.began(0, 0);
    }
    see(vllm(5, 1, 0.5));
    see(vllm(5, 1, 0.5));
    assertThat(replica.otherLoad(0)).isEqualTo(OtherLoad.NONE);
    see(vllm(6, 4, 0.5));
    see(vllm(6, 4, 0.5));
    assertThat(replica.otherLoad(0)).isEqualTo(new OtherLoad(0, 4, 0.5));
  }

  @Test
  void ownRequestsOfBothMomentsCount() {
    page(vllm(3, 0, 0.1));
    replica.began(0, 0);
    replica.began(0, 0);
    watch.metricsRequested();
    replica.ended(0);
    replica.ended(0);
    watch.readLoad(MetricsPage.read(vllm(2, 0, 0.1).getBytes(UTF_8)), true);
    assertThat(replica.otherLoad(0)).isEqualTo(OtherLoad.NONE);
  }

  @Test
  void oldPagesAreForgotten() {
    see(vllm(5, 3, 0.5));
    see(vllm(5, 3, 0.5));
    watch.missed();
    watch.missed();
    assertThat(replica.otherLoad(0).requests()).isEqualTo(8);
    watch.missed();
    assertThat(replica.otherLoad(0)).isEqualTo(OtherLoad.NONE);
    see(vllm(5, 3, 0.5));
    assertThat(replica.otherLoad(0)).isEqualTo(OtherLoad.NONE);
  }

  @Test
  void ranksHaveTheirOwn() {
    Replica two = new Replica("b", URI.create("http://b"), Set.of(), 2);
    OtherLoadWatch both = new OtherLoadWatch(two);
    two.began(1, 0);
    String page =
        "vllm:num_requests_running{engine=\"0\",model_name=\"m\"} 2.0\n"
            + "vllm:num_requests_running{engine=\"1\",model_name=\"m\"} 4.0\n"
            + "vllm:kv_cache_usage_perc{engine=\"1\",model_name=\"m\"} 0.25\n";
    for (int i = 0; i < 2; i++) {
      both.metricsRequested();
      both.readLoad(MetricsPage.read(page.getBytes(UTF_8)), true);
    }
    assertThat(two.otherLoad(0)).isEqualTo(new OtherLoad(2, 0, 0));
    assertThat(two.otherLoad(1)).isEqualTo(new OtherLoad(3, 0, 0.25));
  }

  @Test
  void ranksBehindOneEngineAddUp() {
    String page =
        "vllm:num_requests_running{engine=\"0\"} 2\nvllm:num_requests_running{engine=\"1\"} 4\n"
            + "vllm:kv_cache_usage_perc{engine=\"0\"} 0.5\nvllm:kv_cache_usage_perc{engine=\"1\"} 0.25\n";
    see(page);
    see(page);
    assertThat(replica.otherLoad(0)).isEqualTo(new OtherLoad(6, 0, 0.5));
  }

  @Test
  void everyEnginesNamesAreRead() {
    for (String page :
        new String[] {
          vllm(5, 3, 0.5),
          "sglang:num_running_reqs{dp_rank=\"0\"} 5\nsglang:num_queue_reqs{tp_rank=\"0\"} 3\n"
              + "sglang:token_usage{tp_rank=\"0\"} 0.5\n",
          "trtllm_num_requests_running 5\ntrtllm_num_requests_waiting 3\n"
              + "trtllm_kv_cache_utilization 0.5\n",
          "nv_trt_llm_request_metrics{model=\"m\",request_type=\"scheduled\",version=\"1\"} 5\n"
              + "nv_trt_llm_request_metrics{model=\"m\",request_type=\"waiting\",version=\"1\"} 3\n"
              + "nv_trt_llm_request_metrics{model=\"m\",request_type=\"max\",version=\"1\"} 99\n"
              + "nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type=\"fraction\"} 0.5\n"
        }) {
      Replica other = new Replica("a", URI.create("http://a"), Set.of(), 1);
      OtherLoadWatch reading = new OtherLoadWatch(other);
      reading.readLoad(MetricsPage.read(page.getBytes(UTF_8)), true);
      reading.readLoad(MetricsPage.read(page.getBytes(UTF_8)), true);
      assertThat(other.otherLoad(0)).as(page).isEqualTo(new OtherLoad(5, 3, 0.5));
    }
  }

  @Test
  void nonsenseIsNoLoad() {
    String page =
        "vllm:num_requests_running{engine=\"0\"} NaN\nvllm:num_requests_waiting{engine=\"0\"} -3\n"
            + "vllm:kv_cache_usage_perc{engine=\"0\"} 7\nvllm:num_requests_running\nvllm:num{} x\n";
    see(page);
    see(page);
    assertThat(replica.otherLoad(0)).isEqualTo(OtherLoad.NONE);
    see("vllm:num_requests_running{} 1e300\nvllm:kv_cache_usage_perc{} 7\n");
    see("vllm:num_requests_running{} 1e300\nvllm:kv_cache_usage_perc{} 7\n");
    assertThat(replica.otherLoad(0)).isEqualTo(new OtherLoad(1_000_000, 0, 1));
  }

  private void see(String page) {
    watch.metricsRequested();
    page(page);
  }

  private void page(String page) {
    watch.readLoad(MetricsPage.read(page.getBytes(UTF_8)), true);
  }

  private static String vllm(int running, int waiting, double kvUse) {
    return "vllm:num_requests_running{engine=\"0\",model_name=\"m\"} %d.0\n".formatted(running)
        + "vllm:num_requests_waiting{engine=\"0\",model_name=\"m\"} %d.0\n".formatted(waiting)
        + "vllm:kv_cache_usage_perc{engine=\"0\",model_name=\"m\"} %s\n".formatted(kvUse);
  }
}
