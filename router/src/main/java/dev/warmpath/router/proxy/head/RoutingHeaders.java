package dev.warmpath.router.proxy.head;

import dev.warmpath.router.auth.Client;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.fleet.dispatch.RoutingHints;
import io.vertx.core.MultiMap;
import org.jspecify.annotations.Nullable;

/** Reads what the headers that the configuration names say to the dispatcher. */
public final class RoutingHeaders {

  private RoutingHeaders() {}

  /**
   * Reads a request's headers.
   *
   * @param client whose API key it came with, or null
   */
  public static RoutingHints of(RouterConfig config, MultiMap headers, @Nullable Client client) {
    String priorityHeader = config.queue().priorityHeader();
    String clientHeader = config.queue().clientHeader();
    String session = headers.get(config.policy().sessionHeader());
    String said = priorityHeader == null ? null : headers.get(priorityHeader);
    if (client == null) {
      String named = clientHeader == null ? null : headers.get(clientHeader);
      return new RoutingHints(session, priority(said, 0), named);
    }
    int own = client.priority();
    return new RoutingHints(session, Math.max(own, priority(said, own)), client.name());
  }

  /** What is no number is no priority. */
  private static int priority(@Nullable String text, int standard) {
    try {
      return text == null ? standard : Integer.parseInt(text);
    } catch (NumberFormatException e) {
      return standard;
    }
  }
}
