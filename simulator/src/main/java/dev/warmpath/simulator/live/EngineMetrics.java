package dev.warmpath.simulator.live;

import dev.warmpath.simulator.engine.EngineGauges;
import dev.warmpath.simulator.live.TokenEngine.StepResult.Token;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.DoubleAdder;
import java.util.concurrent.atomic.LongAdder;

/**
 * What an engine shows on {@code /metrics}, under vLLM's names.
 *
 * <p>Thread-safe.
 */
final class EngineMetrics {

  private final String labels;
  private final String cacheConfig;
  private final double startSeconds;
  private final LongAdder promptTokens = new LongAdder();
  private final LongAdder computedTokens = new LongAdder();
  private final LongAdder localHitTokens = new LongAdder();
  private final LongAdder externalTokens = new LongAdder();
  private final LongAdder generationTokens = new LongAdder();
  private final Map<String, LongAdder> finished = new ConcurrentHashMap<>();
  private final Map<String, LongAdder> counters = new ConcurrentSkipListMap<>();
  private final Histogram timeToFirstToken = new Histogram();
  private final Histogram interTokenLatency = new Histogram();
  private final Histogram endToEnd = new Histogram();

  /**
   * @param cacheConfig name and value of what {@code vllm:cache_config_info} tells as labels
   * @param startSeconds when this lifetime began, seconds since the epoch
   */
  public EngineMetrics(String model, Map<String, String> cacheConfig, double startSeconds) {
    labels = "engine=\"0\",model_name=\"" + escape(model) + "\"";
    this.startSeconds = startSeconds;
    StringBuilder text = new StringBuilder("engine=\"0\"");
    cacheConfig.forEach((key, value) ->
        text.append(',').append(key).append("=\"").append(escape(value)).append('"'));
    this.cacheConfig = text.toString();
    finished.put("stop", new LongAdder());
    finished.put("length", new LongAdder());
    finished.put("abort", new LongAdder());
  }

  /** Counts a token {@code sinceSeconds} after the request's arrival or the token before. */
  public void token(Token token, double sinceSeconds) {
    generationTokens.increment();
    (token.index() == 0 ? timeToFirstToken : interTokenLatency).record(sinceSeconds);
  }

  /** Counts a prompt of {@code tokens} whose {@code first} token has come. */
  public void prompt(int tokens, Token first) {
    promptTokens.add(tokens);
    computedTokens.add(tokens - first.cachedTokens());
    localHitTokens.add(first.cachedTokens() - first.externalTokens());
    externalTokens.add(first.externalTokens());
  }

  /** A counter of a name, without {@code _total}, that the page shows from now on. */
  public LongAdder counter(String name) {
    return counters.computeIfAbsent(name, key -> new LongAdder());
  }

  /** Counts a finished request. */
  public void finished(String reason, double seconds) {
    finished.computeIfAbsent(reason, key -> new LongAdder()).increment();
    endToEnd.record(seconds);
  }

  /** The page in Prometheus' text format. */
  public String page(EngineGauges load) {
    StringBuilder page = new StringBuilder(4096);
    gauge(page, "vllm:num_requests_running", load.running());
    gauge(page, "vllm:num_requests_waiting", load.waiting());
    gauge(page, "vllm:kv_cache_usage_perc", load.cacheUsage());
    counter(page, "vllm:prefix_cache_queries", load.cacheQueriesTokens());
    counter(page, "vllm:prefix_cache_hits", load.cacheHitsTokens());
    counter(page, "vllm:external_prefix_cache_hits", load.hostHitsTokens() + load.receivedTokens());
    counter(page, "vllm:num_preemptions", load.preemptions());
    counter(page, "vllm:prompt_tokens", promptTokens.sum());
    page.append("# TYPE vllm:prompt_tokens_by_source_total counter\n");
    bySource(page, "local_compute", computedTokens);
    bySource(page, "local_cache_hit", localHitTokens);
    bySource(page, "external_kv_transfer", externalTokens);
    counters.forEach((name, count) -> counter(page, name, count.sum()));
    counter(page, "vllm:generation_tokens", generationTokens.sum());
    page.append("# TYPE vllm:request_success_total counter\n");
    finished.forEach((reason, count) ->
        count(
            page,
            "vllm:request_success_total",
            labels + ",finished_reason=\"" + escape(reason) + "\"",
            count.sum()));
    timeToFirstToken.write(page, "vllm:time_to_first_token_seconds", labels);
    interTokenLatency.write(page, "vllm:inter_token_latency_seconds", labels);
    endToEnd.write(page, "vllm:e2e_request_latency_seconds", labels);
    page.append("# TYPE vllm:cache_config_info gauge\n");
    sample(page, "vllm:cache_config_info", cacheConfig, 1);
    page.append("# TYPE process_start_time_seconds gauge\n");
    page.append("process_start_time_seconds ").append(startSeconds).append('\n');
    return page.toString();
  }

  private void bySource(StringBuilder page, String source, LongAdder tokens) {
    String labelled = labels + ",source=\"" + source + "\"";
    count(page, "vllm:prompt_tokens_by_source_total", labelled, tokens.sum());
  }

  private void gauge(StringBuilder page, String name, double value) {
    page.append("# TYPE ").append(name).append(" gauge\n");
    sample(page, name, labels, value);
  }

  private void counter(StringBuilder page, String name, long value) {
    page.append("# TYPE ").append(name).append("_total counter\n");
    count(page, name + "_total", labels, value);
  }

  private static void count(StringBuilder page, String name, String labels, long value) {
    sample(page, name, labels, (double) value);
  }

  private static void sample(StringBuilder page, String name, String labels, double value) {
    page.append(name).append('{').append(labels).append("} ").append(value).append('\n');
  }

  private static String escape(String text) {
    return text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
  }

  /**
   * A Prometheus histogram of seconds.
   *
   * <p>Thread-safe.
   */
  private static final class Histogram {

    private static final double[] BOUNDS = {
      0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40,
      80
    };

    private final AtomicLongArray counts = new AtomicLongArray(BOUNDS.length + 1);
    private final DoubleAdder sum = new DoubleAdder();

    void record(double seconds) {
      int bucket = 0;
      while (bucket < BOUNDS.length && seconds > BOUNDS[bucket]) {
        bucket++;
      }
      counts.incrementAndGet(bucket);
      sum.add(seconds);
    }

    void write(StringBuilder page, String name, String labels) {
      page.append("# TYPE ").append(name).append(" histogram\n");
      long total = 0;
      for (int i = 0; i <= BOUNDS.length; i++) {
        total += counts.get(i);
        String bound = i < BOUNDS.length ? Double.toString(BOUNDS[i]) : "+Inf";
        page.append(
            String.format(Locale.ROOT, "%s_bucket{%s,le=\"%s\"} %d%n", name, labels, bound, total));
      }
      page.append(String.format(Locale.ROOT, "%s_sum{%s} %s%n", name, labels, sum.sum()));
      page.append(String.format(Locale.ROOT, "%s_count{%s} %d%n", name, labels, total));
    }
  }
}
