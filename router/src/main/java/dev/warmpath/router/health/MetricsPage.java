package dev.warmpath.router.health;

import dev.warmpath.router.fleet.ReportedLoad;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What an engine's {@code /metrics} says of its lifetime, cache and load.
 *
 * <p>Immutable.
 *
 * @param startSeconds {@code process_start_time_seconds}, NaN if the page does not say
 * @param asleep whether the engine sleeps ({@code vllm:engine_sleep_state}), which empties its
 *     cache
 * @param cacheConfig the labels of {@code vllm:cache_config_info}, null if there are none
 * @param tokens prompt and answer tokens that were computed; NaN if the page does not count them
 * @param receivedTokens prompt tokens whose KV cache came from another engine; NaN as before
 * @param expiredTransfers computed prompts that nobody has fetched in time; NaN as before
 * @param ranks the load of each data-parallel rank that the page names; of rank 0 what names none
 */
public record MetricsPage(
    double startSeconds,
    boolean asleep,
    @Nullable String cacheConfig,
    double tokens,
    double receivedTokens,
    double expiredTransfers,
    Map<Integer, ReportedLoad> ranks) {

  private enum Load {
    WAITING,
    RUNNING,
    KV_USE;

    ReportedLoad of(double value) {
      return new ReportedLoad(
          this == WAITING ? value : Double.NaN,
          this == RUNNING ? value : Double.NaN,
          this == KV_USE ? value : Double.NaN);
    }
  }

  /**
   * Names of vLLM and SGLang, and those of TensorRT-LLM, alone and in Triton, for what the Gateway
   * API's model server protocol asks for.
   */
  private static final Map<String, Load> LOADS =
      Map.ofEntries(
          Map.entry("vllm:num_requests_waiting", Load.WAITING),
          Map.entry("vllm:num_requests_running", Load.RUNNING),
          Map.entry("vllm:kv_cache_usage_perc", Load.KV_USE),
          Map.entry("sglang:num_queue_reqs", Load.WAITING),
          Map.entry("sglang:num_running_reqs", Load.RUNNING),
          Map.entry("sglang:token_usage", Load.KV_USE),
          Map.entry("trtllm_num_requests_waiting", Load.WAITING),
          Map.entry("trtllm_num_requests_running", Load.RUNNING),
          Map.entry("trtllm_kv_cache_utilization", Load.KV_USE),
          Map.entry("nv_trt_llm_request_metrics/waiting", Load.WAITING),
          Map.entry("nv_trt_llm_request_metrics/scheduled", Load.RUNNING),
          Map.entry("nv_trt_llm_kv_cache_block_metrics/fraction", Load.KV_USE));

  private static final Set<String> TOKENS =
      Set.of(
          "vllm:prompt_tokens_total",
          "vllm:generation_tokens_total",
          "sglang:prompt_tokens_total",
          "sglang:generation_tokens_total");

  /** Where Triton puts what others have in the name. */
  private static final Pattern TRITON_KIND =
      Pattern.compile("(?:request_type|kv_cache_block_type)=\"([a-z_]+)\"");

  private static final Pattern RANK = Pattern.compile("[{,](?:engine|dp_rank)=\"([0-9]{1,4})\"");
  private static final String START = "process_start_time_seconds ";
  private static final String AWAKE = "vllm:engine_sleep_state{";
  private static final String CONFIG = "vllm:cache_config_info{";
  private static final String RECEIVED = "vllm:prompt_tokens_by_source_total";
  private static final String RECEIVED_SOURCE = "source=\"external_kv_transfer\"";
  private static final String EXPIRED = "vllm:nixl_num_kv_expired_reqs_total";
  private static final String FIRST_LETTERS = "pvstn";

  /** Of a page that says nothing. */
  public static final MetricsPage NONE =
      new MetricsPage(Double.NaN, false, null, Double.NaN, Double.NaN, Double.NaN, Map.of());

  private static final Pattern NUMBER = Pattern.compile("[0-9]{1,15}");

  /** Reads a page of Prometheus' text format; what is not there is not known. */
  public static MetricsPage read(byte[] page) {
    Reading reading = new Reading();
    int from = 0;
    for (int at = 0; at < page.length; at++) {
      if (page[at] == '\n') {
        reading.line(page, from, at);
        from = at + 1;
      }
    }
    reading.line(page, from, page.length);
    return new MetricsPage(
        reading.startSeconds,
        reading.asleep,
        reading.cacheConfig,
        reading.tokens,
        reading.receivedTokens,
        reading.expiredTransfers,
        Map.copyOf(reading.ranks));
  }

  /** What was found so far; pages are long, and few lines matter. */
  private static final class Reading {
    private double startSeconds = Double.NaN;
    private boolean asleep;
    private @Nullable String cacheConfig;
    private double tokens = Double.NaN;
    private double receivedTokens = Double.NaN;
    private double expiredTransfers = Double.NaN;
    private final Map<Integer, ReportedLoad> ranks = new HashMap<>();

    void line(byte[] page, int from, int to) {
      if (from < to && FIRST_LETTERS.indexOf(page[from]) >= 0) {
        line(new String(page, from, to - from, StandardCharsets.UTF_8));
      }
    }

    private void line(String line) {
      if (line.startsWith(START)) {
        startSeconds = number(line.substring(START.length()));
      } else if (line.startsWith(AWAKE) && line.contains("sleep_state=\"awake\"")) {
        asleep |= number(line.substring(line.lastIndexOf('}') + 1)) == 0;
      } else if (line.startsWith(CONFIG) && line.indexOf('}') > 0) {
        cacheConfig = line.substring(CONFIG.length(), line.lastIndexOf('}'));
      } else {
        load(line);
      }
    }

    private void load(String line) {
      int end = line.lastIndexOf('}') + 1;
      int labels = end == 0 ? line.indexOf(' ') : line.indexOf('{');
      if (labels <= 0) {
        return;
      }
      String name = line.substring(0, labels);
      Matcher kind = TRITON_KIND.matcher(line);
      Load load =
          LOADS.get(name.startsWith("nv_") && kind.find() ? name + "/" + kind.group(1) : name);
      double value = number(line.substring(Math.max(end, labels)));
      if (TOKENS.contains(name) && value >= 0) {
        tokens = sum(tokens, value);
      } else if (name.equals(RECEIVED) && line.contains(RECEIVED_SOURCE) && value >= 0) {
        receivedTokens = sum(receivedTokens, value);
      } else if (name.equals(EXPIRED) && value >= 0) {
        expiredTransfers = sum(expiredTransfers, value);
      }
      if (load != null && value >= 0) {
        Matcher rank = RANK.matcher(line);
        int number = rank.find() ? Integer.parseInt(rank.group(1)) : 0;
        ReportedLoad known = ranks.getOrDefault(number, ReportedLoad.UNKNOWN);
        ranks.put(number, known.and(load.of(value)));
      }
    }
  }

  private static double sum(double known, double more) {
    return Double.isNaN(known) ? more : known + more;
  }

  /**
   * Whether its engines computed something between an earlier page and this one: tokens, or blocks
   * of a long prompt. Requests that end show nothing; they may have been given up.
   */
  boolean movedSince(MetricsPage earlier) {
    ReportedLoad was = earlier.all();
    ReportedLoad is = all();
    return Double.compare(tokens, earlier.tokens) != 0
        || is.running() > was.running()
        || is.kvUse() > was.kvUse();
  }

  /** Requests in the queues of all ranks; NaN if the page does not say. */
  public double waiting() {
    return all().waiting();
  }

  /** The load of one rank. */
  ReportedLoad rank(int rank) {
    return ranks.getOrDefault(rank, ReportedLoad.UNKNOWN);
  }

  /** The load of all ranks together. */
  ReportedLoad all() {
    return ranks.values().stream().reduce(ReportedLoad.UNKNOWN, ReportedLoad::and);
  }

  /** {@code num_gpu_blocks} of {@link #cacheConfig}, of all ranks together; 0 if it is not said. */
  public long gpuBlocks() {
    return number("num_gpu_blocks", 0);
  }

  /** A whole number in {@link #cacheConfig}; {@code otherwise} if it is not said. */
  public long number(String label, long otherwise) {
    String value = label(label);
    return value != null && NUMBER.matcher(value).matches() ? Long.parseLong(value) : otherwise;
  }

  /** A label of {@link #cacheConfig}; null if it is not said. */
  public @Nullable String label(String name) {
    Matcher said =
        Pattern.compile("(?:^|,)" + Pattern.quote(name) + "=\"([^\"]*)\"")
            .matcher(cacheConfig == null ? "" : cacheConfig);
    return said.find() ? said.group(1) : null;
  }

  private static double number(String text) {
    try {
      return Double.parseDouble(text.strip());
    } catch (NumberFormatException e) {
      return Double.NaN;
    }
  }
}
