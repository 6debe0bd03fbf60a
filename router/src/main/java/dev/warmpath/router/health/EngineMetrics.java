package dev.warmpath.router.health;

import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * An engine's lifetime, cache and queue, by its {@code /metrics}.
 *
 * <p>Immutable.
 *
 * @param startSeconds {@code process_start_time_seconds}, NaN if the page does not say
 * @param asleep whether the engine sleeps ({@code vllm:engine_sleep_state}), which empties its
 *     cache
 * @param cacheConfig the labels of {@code vllm:cache_config_info}, null if there are none
 * @param waiting requests in the queues of the replica's engines ({@code
 *     vllm:num_requests_waiting}, {@code sglang:num_queue_reqs}), negative if the page does not say
 */
public record EngineMetrics(
    double startSeconds, boolean asleep, @Nullable String cacheConfig, double waiting) {

  private static final String START = "process_start_time_seconds ";
  private static final String AWAKE = "vllm:engine_sleep_state{";
  private static final String CONFIG = "vllm:cache_config_info{";
  private static final String WAITING = "vllm:num_requests_waiting{";
  private static final String SGLANG_WAITING = "sglang:num_queue_reqs{";
  private static final String FIRST_LETTERS = "pvs";
  private static final double UNSAID = -1;

  /** Of a page that says nothing. */
  public static final EngineMetrics NONE = new EngineMetrics(Double.NaN, false, null, UNSAID);

  private static final Pattern NUMBER = Pattern.compile("[0-9]{1,15}");

  /** Reads a page of Prometheus' text format; what is not there is not known. */
  public static EngineMetrics read(byte[] page) {
    Reading reading = new Reading();
    int from = 0;
    for (int at = 0; at < page.length; at++) {
      if (page[at] == '\n') {
        reading.line(page, from, at);
        from = at + 1;
      }
    }
    reading.line(page, from, page.length);
    return new EngineMetrics(
        reading.startSeconds, reading.asleep, reading.cacheConfig, reading.waiting);
  }

  /** What was found so far; pages are long, and few lines matter. */
  private static final class Reading {
    private double startSeconds = Double.NaN;
    private boolean asleep;
    private @Nullable String cacheConfig;
    private double waiting = UNSAID;

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
      } else if (line.startsWith(WAITING) || line.startsWith(SGLANG_WAITING)) {
        double more = number(line.substring(line.lastIndexOf('}') + 1));
        waiting = Double.isNaN(more) ? waiting : Math.max(0, waiting) + more;
      }
    }
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
