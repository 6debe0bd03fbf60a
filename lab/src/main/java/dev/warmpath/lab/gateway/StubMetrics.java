package dev.warmpath.lab.gateway;

import java.util.List;

/**
 * A page of metrics with the names and about the size of vLLM's, so that reading it costs a gateway
 * what it costs in a fleet.
 *
 * @param gpuBlocks how many blocks the cache has room for
 */
record StubMetrics(String model, long gpuBlocks) {

  private static final List<String> GAUGES =
      List.of("num_requests_running", "num_requests_waiting", "kv_cache_usage_perc");
  private static final List<String> COUNTERS =
      List.of(
          "num_preemptions",
          "prefix_cache_queries",
          "prefix_cache_hits",
          "prompt_tokens",
          "generation_tokens",
          "request_success");
  private static final List<String> HISTOGRAMS =
      List.of(
          "time_to_first_token_seconds",
          "inter_token_latency_seconds",
          "e2e_request_latency_seconds",
          "request_queue_time_seconds",
          "request_inference_time_seconds",
          "request_prefill_time_seconds",
          "request_decode_time_seconds",
          "request_prompt_tokens",
          "request_generation_tokens",
          "request_params_max_tokens",
          "iteration_tokens_total");
  private static final int BUCKETS = 22;

  String page() {
    StringBuilder page = new StringBuilder(1 << 15);
    page.append("# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds ")
        .append(System.currentTimeMillis() / 1000.0)
        .append('\n');
    for (String name : GAUGES) {
      sample(type(page, name, "gauge"), name, "");
    }
    for (String name : COUNTERS) {
      sample(type(page, name + "_total", "counter"), name + "_total", "");
    }
    for (String name : HISTOGRAMS) {
      type(page, name, "histogram");
      for (int bucket = 0; bucket < BUCKETS; bucket++) {
        sample(page, name + "_bucket", ",le=\"" + Math.pow(2, bucket - 10) + "\"");
      }
      sample(page, name + "_bucket", ",le=\"+Inf\"");
      sample(page, name + "_count", "");
      sample(page, name + "_sum", "");
    }
    sample(type(page, "cache_config_info", "gauge"), "cache_config_info", cacheConfig());
    return page.toString();
  }

  private String cacheConfig() {
    return ",block_size=\"16\",enable_prefix_caching=\"True\",num_gpu_blocks=\"%d\""
        .formatted(gpuBlocks);
  }

  private StringBuilder type(StringBuilder page, String name, String type) {
    return page.append("# TYPE vllm:%s %s\n".formatted(name, type));
  }

  private void sample(StringBuilder page, String name, String labels) {
    page.append("vllm:%s{engine=\"0\",model_name=\"%s\"%s} 1.0\n".formatted(name, model, labels));
  }
}
