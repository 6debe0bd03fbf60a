package dev.warmpath.router.picker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.fleet.ReportedLoad;
import dev.warmpath.router.rig.Rig;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class PoolMetricsTest {

  private static final String BODY = "{\"model\":\"%s\",\"prompt\":\"p\"}";

  @Test
  void theFleetIsShownAsOtherPickersShowAPool() throws Exception {
    try (Rig rig =
        new Rig(
            2,
            tree ->
                tree.set("admin.pool-metrics", "llama", "test")
                    .set("health.metrics-interval-ms", 3_600_000, "test"))) {
      assertThat(rig.chat(BODY.formatted("m")).statusCode()).isEqualTo(200);
      assertThat(rig.chat(BODY.formatted("m")).statusCode()).isEqualTo(200);
      assertThat(rig.chat(BODY.formatted("made-up")).statusCode()).isEqualTo(404);
      rig.router.fleet().replicas().get(0).reportedLoad(0, new ReportedLoad(4, 8, 0.5));
      rig.router.fleet().replicas().get(1).reportedLoad(0, new ReportedLoad(0, 2, 0.1));

      Map<String, Double> shown = rig.metrics();
      assertThat(shown)
          .containsEntry("inference_pool_ready_pods{name=\"llama\"}", 2.0)
          .containsEntry("llm_d_epp_ready_endpoints{name=\"llama\"}", 2.0)
          .containsEntry("inference_pool_average_queue_size{name=\"llama\"}", 2.0)
          .containsEntry("llm_d_epp_average_running_requests{name=\"llama\"}", 5.0)
          .containsEntry("llm_d_epp_std_dev_running_requests{name=\"llama\"}", 3.0)
          .containsEntry("inference_pool_average_kv_cache_utilization{name=\"llama\"}", 0.3)
          .containsEntry(
              "inference_pool_per_pod_queue_size{model_server_pod=\"r0\",name=\"llama\"}", 4.0)
          .containsEntry(
              "inference_objective_request_duration_seconds_count"
                  + "{model_name=\"m\",target_model_name=\"m\"}",
              2.0);
      assertThat(sum(shown, "llm_d_epp_request_total{", "model_name=\"m\"")).isEqualTo(2);
      assertThat(sum(shown, "llm_d_epp_request_error_total{", "model_name=\"other\""))
          .as("a model that a client made up has no series of its own")
          .isEqualTo(1);
      assertThat(sum(shown, "inference_extension_flow_control_queue_size{", "llama")).isZero();
    }
  }

  @Test
  void nothingOfItIsThereUnlessWanted() throws Exception {
    try (Rig rig = new Rig(1)) {
      assertThat(rig.metrics().keySet()).noneMatch(name -> name.startsWith("llm_d_epp"));
    }
  }

  private static double sum(Map<String, Double> shown, String name, String labels) {
    double[] found =
        shown.entrySet().stream()
            .filter(entry -> entry.getKey().startsWith(name) && entry.getKey().contains(labels))
            .mapToDouble(Map.Entry::getValue)
            .toArray();
    assertThat(found).isNotEmpty();
    return Arrays.stream(found).sum();
  }
}
