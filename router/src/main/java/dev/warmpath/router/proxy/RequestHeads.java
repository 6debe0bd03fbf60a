package dev.warmpath.router.proxy;

import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.fleet.dispatch.RequestHead;
import io.vertx.core.MultiMap;
import org.jspecify.annotations.Nullable;

/** Reads what the headers that the configuration names say to the dispatcher. */
final class RequestHeads {

  private RequestHeads() {}

  static RequestHead of(RouterConfig config, MultiMap headers) {
    String priorityHeader = config.queue().priorityHeader();
    String clientHeader = config.queue().clientHeader();
    return new RequestHead(
        headers.get(config.policy().sessionHeader()),
        priorityHeader == null ? 0 : priority(headers.get(priorityHeader)),
        clientHeader == null ? null : headers.get(clientHeader));
  }

  /** What is no number is no priority. */
  private static int priority(@Nullable String text) {
    try {
      return text == null ? 0 : Integer.parseInt(text);
    } catch (NumberFormatException e) {
      return 0;
    }
  }
}
