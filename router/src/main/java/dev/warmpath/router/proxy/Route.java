package dev.warmpath.router.proxy;

import dev.warmpath.tokenizer.RequestKind;
import java.util.Arrays;
import java.util.Optional;
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
  RESPONSES("/v1/responses", "POST", RequestKind.RESPONSES),
  MODELS("/v1/models", "GET", null),
  HEALTH("/health", "GET", null),
  METRICS("/metrics", "GET", null);

  private final String path;
  private final String method;
  private final @Nullable RequestKind kind;

  Route(String path, String method, @Nullable RequestKind kind) {
    this.path = path;
    this.method = method;
    this.kind = kind;
  }

  static Optional<Route> find(String path) {
    return Arrays.stream(values()).filter(route -> route.path.equals(path)).findFirst();
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

  /** How prompts of this path are read; null if it takes none and is not passed on. */
  @Nullable RequestKind kind() {
    return kind;
  }
}
