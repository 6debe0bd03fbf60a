package dev.warmpath.router.config;

import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A further path that requests are passed on for, as {@code /path} for POST or {@code METHOD
 * /path}.
 *
 * <p>Immutable.
 */
public record PassedPath(String method, String path) {

  private static final Pattern SHAPE =
      Pattern.compile("(?:(GET|POST|PUT|DELETE) )?((?:/[A-Za-z0-9_][A-Za-z0-9_.-]*)+)");
  private static final int LONGEST = 200;

  /** What works on one engine only; the router would choose on which. */
  private static final Set<String> CONTROLS =
      Set.of(
          "/abort_requests",
          "/collective_rpc",
          "/flush_cache",
          "/is_sleeping",
          "/load_lora_adapter",
          "/pause",
          "/reset_encoder_cache",
          "/reset_mm_cache",
          "/reset_prefix_cache",
          "/resume",
          "/scale_elastic_ep",
          "/shutdown",
          "/sleep",
          "/start_profile",
          "/stop_profile",
          "/unload_lora_adapter",
          "/update_weights_from_disk",
          "/update_weights_from_distributed",
          "/update_weights_from_tensor",
          "/v1/load_lora_adapter",
          "/v1/unload_lora_adapter",
          "/wake_up");

  /** Reads an item of the configuration. */
  static PassedPath of(String text) {
    Matcher matcher = SHAPE.matcher(text);
    if (!matcher.matches() || text.length() > LONGEST) {
      throw new IllegalArgumentException(
          "'paths' must each be /PATH or METHOD /PATH with GET, POST, PUT or DELETE: '%s'"
              .formatted(text));
    }
    if (CONTROLS.contains(matcher.group(2))) {
      throw new IllegalArgumentException(
          "'paths': '%s' controls one engine; call the engine itself".formatted(text));
    }
    String method = matcher.group(1);
    return new PassedPath(method == null ? "POST" : method, matcher.group(2));
  }
}
