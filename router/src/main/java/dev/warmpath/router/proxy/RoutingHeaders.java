package dev.warmpath.router.proxy;

import dev.warmpath.router.auth.Client;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.fleet.dispatch.RoutingHints;
import io.vertx.core.MultiMap;
import org.jspecify.annotations.Nullable;

/** Reads what a request's headers say to the router. */
final class RoutingHeaders {

  /** How often at most the request is tried again; not for the replica. */
  static final String MAX_RETRIES = "x-warmpath-max-retries";

  private RoutingHeaders() {}

  /**
   * What the headers that the configuration names say to the dispatcher.
   *
   * @param client whose API key it came with, or null
   */
  static RoutingHints of(RouterConfig config, MultiMap headers, @Nullable Client client) {
    String priorityHeader = config.queue().priorityHeader();
    String clientHeader = config.queue().clientHeader();
    String session = headers.get(config.policy().sessionHeader());
    String said = priorityHeader == null ? null : headers.get(priorityHeader);
    if (client == null) {
      String named = clientHeader == null ? null : headers.get(clientHeader);
      return new RoutingHints(session, number(said, 0), named);
    }
    int own = client.priority();
    return new RoutingHints(session, Math.max(own, number(said, own)), client.name());
  }

  /** Retries that a client allows; what is no number forbids none. */
  static int maxRetries(MultiMap headers) {
    return number(headers.get(MAX_RETRIES), Integer.MAX_VALUE);
  }

  private static int number(@Nullable String text, int standard) {
    try {
      return text == null ? standard : Integer.parseInt(text);
    } catch (NumberFormatException e) {
      return standard;
    }
  }
}
