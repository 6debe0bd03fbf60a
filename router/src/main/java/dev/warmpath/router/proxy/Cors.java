package dev.warmpath.router.proxy;

import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Tells browsers which pages may call the router, by the origins of {@code listen.cors}. Cookies
 * are never allowed: clients have keys, which pages send themselves.
 *
 * <p>Immutable.
 */
final class Cors {

  private static final String ANY = "*";
  private static final String MAX_AGE_SECONDS = "600";
  private static final int LONGEST_LIST = 1_000;
  private static final Pattern NAMES = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~, \t-]+");
  private static final String EXPOSED =
      RequestIds.HEADER + ", retry-after, x-warmpath-replica, x-warmpath-cached-tokens";

  private Cors() {}

  /** Lets the page that asks read the response, if it may; errors too. */
  static void allow(List<String> origins, HttpServerRequest request) {
    if (origins.isEmpty()) {
      return;
    }
    HttpServerResponse response = request.response();
    if (!origins.contains(ANY)) {
      response.putHeader("vary", "origin");
    }
    String origin = request.getHeader("origin");
    if (origin != null && isAllowed(origins, origin)) {
      response
          .putHeader("access-control-allow-origin", origins.contains(ANY) ? ANY : origin)
          .putHeader("access-control-expose-headers", EXPOSED);
    }
  }

  private static boolean isAllowed(List<String> origins, String origin) {
    return origins.contains(ANY) || origins.stream().anyMatch(origin::equalsIgnoreCase);
  }

  /** Whether a browser asks on behalf of a page that may call, before the page's request. */
  static boolean isPreflight(List<String> origins, HttpServerRequest request) {
    String origin = request.getHeader("origin");
    return request.method().equals(HttpMethod.OPTIONS)
        && origin != null
        && request.headers().contains("access-control-request-method")
        && isAllowed(origins, origin);
  }

  /** Answers such a question: the page may use these methods, and the headers that it names. */
  static void answerPreflight(String methods, HttpServerRequest request) {
    HttpServerResponse response = request.response();
    response
        .putHeader("access-control-allow-methods", methods)
        .putHeader("access-control-max-age", MAX_AGE_SECONDS);
    String headers = request.getHeader("access-control-request-headers");
    if (isList(headers)) {
      response.putHeader("access-control-allow-headers", headers);
    }
    response.setStatusCode(204).end();
  }

  private static boolean isList(@Nullable String names) {
    return names != null && names.length() <= LONGEST_LIST && NAMES.matcher(names).matches();
  }
}
