package dev.warmpath.router.health;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a page of metrics tells of an engine's lifetime and cache.
 *
 * <p>Immutable.
 *
 * @param startSeconds {@code process_start_time_seconds}, NaN if the page does not say
 * @param asleep whether the engine sleeps ({@code vllm:engine_sleep_state}), which empties its
 *     cache
 * @param cacheConfig the labels of {@code vllm:cache_config_info}, null if there are none
 */
record EngineSigns(double startSeconds, boolean asleep, @Nullable String cacheConfig) {

  private static final String START = "process_start_time_seconds ";
  private static final String AWAKE = "vllm:engine_sleep_state{";
  private static final String CONFIG = "vllm:cache_config_info{";

  private static final Pattern GPU_BLOCKS =
      Pattern.compile("(?:^|,)num_gpu_blocks=\"([0-9]{1,15})\"");

  /** Reads a page of Prometheus' text format; what is not there is not known. */
  static EngineSigns read(String page) {
    double startSeconds = Double.NaN;
    boolean asleep = false;
    String cacheConfig = null;
    for (String line : page.lines().toList()) {
      if (line.startsWith(START)) {
        startSeconds = number(line.substring(START.length()));
      } else if (line.startsWith(AWAKE) && line.contains("sleep_state=\"awake\"")) {
        asleep |= number(line.substring(line.lastIndexOf('}') + 1)) == 0;
      } else if (line.startsWith(CONFIG) && line.indexOf('}') > 0) {
        cacheConfig = line.substring(CONFIG.length(), line.lastIndexOf('}'));
      }
    }
    return new EngineSigns(startSeconds, asleep, cacheConfig);
  }

  /** {@code num_gpu_blocks} of {@link #cacheConfig}, of all ranks together; 0 if it is not said. */
  long gpuBlocks() {
    Matcher said = GPU_BLOCKS.matcher(cacheConfig == null ? "" : cacheConfig);
    return said.find() ? Long.parseLong(said.group(1)) : 0;
  }

  private static double number(String text) {
    try {
      return Double.parseDouble(text.strip());
    } catch (NumberFormatException e) {
      return Double.NaN;
    }
  }
}
