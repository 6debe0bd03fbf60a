package dev.warmpath.router.proxy;

import dev.warmpath.tokenizer.RequestKind;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The paths that the router answers; there are no others.
 *
 * <p>Immutable.
 */
public enum Route {
  CHAT_COMPLETIONS("/v1/chat/completions", "POST", RequestKind.CHAT),
  COMPLETIONS("/v1/completions", "POST", RequestKind.COMPLETION),
  MESSAGES("/v1/messages", "POST", RequestKind.MESSAGES),
  COUNT_TOKENS("/v1/messages/count_tokens", "POST", null),
  RESPONSES("/v1/responses", "POST", RequestKind.RESPONSES),
  MODELS("/v1/models", "GET", null),
  HEALTH("/health", "GET", null),
  LIVE("/health/live", "GET", null),
  READY("/health/ready", "GET", null),
  METRICS("/metrics", "GET", null);

  private static final Map<String, Route> BY_PATH =
      Arrays.stream(values()).collect(Collectors.toUnmodifiableMap(Route::path, route -> route));

  private final String path;
  private final String method;
  private final @Nullable RequestKind kind;

  Route(String path, String method, @Nullable RequestKind kind) {
    this.path = path;
    this.method = method;
    this.kind = kind;
  }

  /** The one with this path. */
  public static Optional<Route> find(String path) {
    return Optional.ofNullable(BY_PATH.get(path));
  }

  /** The path, also a metric label. */
  public String path() {
    return path;
  }

  /** Whether it answers {@code asked}; what may be got may also be asked for its head alone. */
  boolean takes(String asked) {
    return method.equals(asked) || (method.equals("GET") && asked.equals("HEAD"));
  }

  /** The methods it takes, as the header {@code Allow} lists them. */
  String allowed() {
    return method.equals("GET") ? "GET, HEAD" : method;
  }

  /** How prompts of this path are read; null if no engine computes any for it. */
  public @Nullable RequestKind kind() {
    return kind;
  }

  /** Whether a replica answers it, and not the router itself. */
  boolean isPassedOn() {
    return method.equals("POST");
  }

  /** The form in which clients of this path expect errors. */
  ApiError.Form errors() {
    boolean isAnthropic = this == MESSAGES || this == COUNT_TOKENS;
    return isAnthropic ? ApiError.Form.ANTHROPIC : ApiError.Form.OPENAI;
  }
}
