package dev.warmpath.router.picker;

import dev.warmpath.router.fleet.Fleet;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.fleet.ReportedLoad;
import dev.warmpath.router.logs.Decision;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * The fleet and its requests under the names that llm-d's endpoint picker has for them, and under
 * the older ones of the Gateway API Inference Extension, so that dashboards and autoscalers made
 * for those read them.
 *
 * <p>Thread-safe.
 *
 * @see <a href="https://github.com/llm-d/llm-d-router/blob/main/docs/metrics.md">llm-d's
 *     metrics</a>
 */
public final class PoolMetrics {

  private static final double[] SECONDS = {
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45,
    60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600
  };

  private static final double[] TOKENS = {
    1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384, 32_778, 65_536, 131_072,
    262_144, 524_288, 1_048_576
  };

  private static final double[] TOKEN_SECONDS = {
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10
  };

  private static final String[] MODEL = {"model_name", "target_model_name"};
  private static final String[] REQUEST = {
    "model_name", "target_model_name", "fairness_id", "priority"
  };

  /** One that a client made up has no series of its own. */
  private static final String OTHER = "other";

  /** A histogram under its name of today, and under the one before. */
  private static final class Twin {
    private final Histogram now;
    private final @Nullable Histogram before;

    Twin(PrometheusRegistry to, String now, @Nullable String before, String help, double[] bounds) {
      this.now = histogram(to, "llm_d_epp_" + now, help, bounds, REQUEST);
      this.before =
          before == null
              ? null
              : histogram(to, "inference_objective_" + before, help, bounds, MODEL);
    }

    private static Histogram histogram(
        PrometheusRegistry to, String name, String help, double[] bounds, String[] labels) {
      return Histogram.builder()
          .name(name)
          .help(help)
          .labelNames(labels)
          .withoutExemplars()
          .classicOnly()
          .classicUpperBounds(bounds)
          .register(to);
    }

    void observe(double value, String model, String client) {
      now.labelValues(model, model, client, PRIORITY).observe(value);
      if (before != null) {
        before.labelValues(model, model).observe(value);
      }
    }
  }

  private static final String PRIORITY = "0";

  private final String pool;
  private final Fleet fleet;
  private final IntSupplier waiting;
  private final Counter requests;
  private final Counter requestsBefore;
  private final Counter errors;
  private final Counter errorsBefore;
  private final Twin duration;
  private final Twin firstToken;
  private final Twin perToken;
  private final Twin inputTokens;
  private final Twin outputTokens;
  private final Twin cachedTokens;

  /**
   * Shows them from now on.
   *
   * @param pool the pool's name
   * @param waiting requests in the router's queue
   */
  public PoolMetrics(String pool, Fleet fleet, IntSupplier waiting, PrometheusRegistry to) {
    this.pool = pool;
    this.fleet = fleet;
    this.waiting = waiting;
    requests = counter(to, "llm_d_epp_request_total", "Requests.", REQUEST);
    requestsBefore =
        counter(
            to,
            "inference_objective_request_total",
            "Requests.",
            "model_name",
            "target_model_name",
            "priority");
    String failed = "Requests that failed.";
    errors =
        counter(
            to,
            "llm_d_epp_request_error_total",
            failed,
            "model_name",
            "target_model_name",
            "fairness_id",
            "priority",
            "error_code");
    errorsBefore =
        counter(
            to,
            "inference_objective_request_error_total",
            failed,
            "model_name",
            "target_model_name",
            "error_code");
    duration =
        new Twin(
            to,
            "request_duration_seconds",
            "request_duration_seconds",
            "From a request's head to the end of its answer.",
            SECONDS);
    firstToken =
        new Twin(to, "request_ttft_seconds", null, "To the first content of a stream.", SECONDS);
    perToken =
        new Twin(
            to,
            "request_ntpot_seconds",
            "normalized_time_per_output_token_seconds",
            "A request's time divided by its output tokens.",
            TOKEN_SECONDS);
    inputTokens =
        new Twin(to, "request_input_tokens", "input_tokens", "Tokens of prompts.", TOKENS);
    outputTokens =
        new Twin(to, "request_output_tokens", "output_tokens", "Tokens of answers.", TOKENS);
    cachedTokens =
        new Twin(
            to,
            "request_cached_tokens",
            "prompt_cached_tokens",
            "Tokens of prompts that were not computed.",
            TOKENS);
    to.register(this::gauges);
  }

  private static Counter counter(
      PrometheusRegistry to, String name, String help, String... labels) {
    return Counter.builder()
        .name(name)
        .help(help)
        .labelNames(labels)
        .withoutExemplars()
        .register(to);
  }

  /** A request is over. */
  public void ended(Decision decision) {
    String model = model(decision.request().model());
    String client = decision.request().client() == null ? "" : decision.request().client();
    Decision.Result result = decision.result();
    requests.labelValues(model, model, client, PRIORITY).inc();
    requestsBefore.labelValues(model, model, PRIORITY).inc();
    if (result.status() >= 400 || result.code() != null) {
      String code = result.code() == null ? "status_" + result.status() : result.code();
      errors.labelValues(model, model, client, PRIORITY, code).inc();
      errorsBefore.labelValues(model, model, code).inc();
      return;
    }
    double seconds = decision.times().total() / 1e3;
    duration.observe(seconds, model, client);
    if (!Double.isNaN(decision.times().firstToken())) {
      firstToken.observe(decision.times().firstToken() / 1e3, model, client);
    }
    Decision.Tokens tokens = decision.tokens();
    observe(inputTokens, tokens.prompt(), model, client);
    observe(cachedTokens, tokens.cached(), model, client);
    observe(outputTokens, tokens.answer(), model, client);
    if (tokens.answer() > 0) {
      perToken.observe(seconds / tokens.answer(), model, client);
    }
  }

  private static void observe(Twin tokens, int count, String model, String client) {
    if (count != Decision.UNKNOWN) {
      tokens.observe(count, model, client);
    }
  }

  private String model(@Nullable String named) {
    if (named == null) {
      return OTHER;
    }
    return fleet.replicas().stream().anyMatch(replica -> replica.models().contains(named))
        ? named
        : OTHER;
  }

  private MetricSnapshots gauges() {
    List<Replica> ready = fleet.replicas().stream().filter(Replica::isWell).toList();
    MetricSnapshots.Builder all = MetricSnapshots.builder();
    spread(all, "kv_cache_utilization", "Used part of KV caches.", ready, ReportedLoad::kvUse);
    spread(all, "queue_size", "Requests waiting in engines.", ready, ReportedLoad::waiting);
    spread(all, "running_requests", "Requests running in engines.", ready, ReportedLoad::running);
    String help = "Endpoints that are well.";
    Labels name = Labels.of("name", pool);
    gauge(all, "llm_d_epp_ready_endpoints", help, name, ready.size());
    gauge(all, "inference_pool_ready_pods", help, name, ready.size());
    perEndpoint(all, "llm_d_epp_per_endpoint_queue_size", "model_server_endpoint", ready);
    perEndpoint(all, "inference_pool_per_pod_queue_size", "model_server_pod", ready);
    Labels flow =
        Labels.of(
            "fairness_id",
            "",
            "priority",
            PRIORITY,
            "inference_pool",
            pool,
            "model_name",
            "",
            "target_model_name",
            "");
    String held = "Requests that wait in the router.";
    gauge(all, "llm_d_epp_flow_control_queue_size", held, flow, waiting.getAsInt());
    gauge(all, "inference_extension_flow_control_queue_size", held, flow, waiting.getAsInt());
    return all.build();
  }

  /** Mean and standard deviation over the endpoints that tell; nothing if none does. */
  private void spread(
      MetricSnapshots.Builder to,
      String what,
      String help,
      List<Replica> ready,
      ToDoubleFunction<ReportedLoad> of) {
    double[] told =
        ready.stream()
            .mapToDouble(replica -> of.applyAsDouble(load(replica)))
            .filter(value -> !Double.isNaN(value))
            .toArray();
    if (told.length == 0) {
      return;
    }
    double sum = 0;
    double squares = 0;
    for (double value : told) {
      sum += value;
      squares += value * value;
    }
    double mean = sum / told.length;
    double deviation = Math.sqrt(Math.max(0, squares / told.length - mean * mean));
    Labels name = Labels.of("name", pool);
    gauge(to, "llm_d_epp_average_" + what, help + " Mean of the pool.", name, mean);
    gauge(to, "inference_pool_average_" + what, help + " Mean of the pool.", name, mean);
    gauge(to, "llm_d_epp_std_dev_" + what, help + " Standard deviation.", name, deviation);
  }

  private void perEndpoint(
      MetricSnapshots.Builder to, String name, String label, List<Replica> ready) {
    GaugeSnapshot.Builder gauge =
        GaugeSnapshot.builder().name(name).help("Requests waiting in the engine.");
    List<GaugeDataPointSnapshot> points = new ArrayList<>();
    for (Replica replica : ready) {
      double waits = load(replica).waiting();
      if (!Double.isNaN(waits)) {
        points.add(
            GaugeDataPointSnapshot.builder()
                .labels(Labels.of("name", pool, label, replica.name()))
                .value(waits)
                .build());
      }
    }
    points.forEach(gauge::dataPoint);
    if (!points.isEmpty()) {
      to.metricSnapshot(gauge.build());
    }
  }

  private static void gauge(
      MetricSnapshots.Builder to, String name, String help, Labels labels, double value) {
    to.metricSnapshot(
        GaugeSnapshot.builder()
            .name(name)
            .help(help)
            .dataPoint(GaugeDataPointSnapshot.builder().labels(labels).value(value).build())
            .build());
  }

  /** Of all ranks. */
  private static ReportedLoad load(Replica replica) {
    ReportedLoad all = ReportedLoad.UNKNOWN;
    for (int rank = 0; rank < replica.ranks(); rank++) {
      all = all.and(replica.reportedLoad(rank));
    }
    return all;
  }
}
