package dev.warmpath.router.proxy;

import dev.warmpath.router.config.PassedPath;
import dev.warmpath.tokenizer.RequestKind;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The paths that the router answers; there are no others. Each is matched as a whole, as it came.
 *
 * <p>Immutable.
 */
public final class Routes {

  /** Where a client opens a WebSocket, which goes to a replica that is chosen by load. */
  public static final Route REALTIME =
      new Route("/v1/realtime", List.of("GET"), Route.Work.COMPUTES, null, null);

  /** A response that its engine keeps, and its end before its time. */
  private static final Route STORED = Route.lookup("/v1/responses/ID", "GET", "DELETE");

  private static final Route CANCEL = Route.lookup("/v1/responses/ID/cancel", "POST");

  private static final Route MODEL = Route.page("/v1/models/ID", Route.Page.MODEL);

  private static final String MODEL_PREFIX = "/v1/models/";
  private static final String STORED_PREFIX = "/v1/responses/";
  private static final String CANCEL_SUFFIX = "/cancel";

  private static final List<Route> DEFAULT =
      List.of(
          Route.prompt("/v1/chat/completions", RequestKind.CHAT),
          Route.prompt("/v1/completions", RequestKind.COMPLETION),
          Route.prompt("/v1/messages", RequestKind.MESSAGES),
          Route.prompt("/v1/responses", RequestKind.RESPONSES),
          Route.lookup("/v1/messages/count_tokens", "POST"),
          Route.computing("/v1/embeddings"),
          Route.computing("/v1/rerank"),
          Route.computing("/v2/rerank"),
          Route.computing("/rerank"),
          Route.computing("/v1/score"),
          Route.computing("/score"),
          Route.computing("/pooling"),
          Route.computing("/classify"),
          Route.computing("/v1/audio/transcriptions"),
          Route.computing("/v1/audio/translations"),
          Route.lookup("/tokenize", "POST"),
          Route.lookup("/detokenize", "POST"),
          Route.lookup("/version", "GET"),
          REALTIME,
          Route.page("/v1/models", Route.Page.MODELS),
          Route.page("/health", Route.Page.HEALTH),
          Route.page("/health/live", Route.Page.LIVE),
          Route.page("/health/ready", Route.Page.READY),
          Route.page("/metrics", Route.Page.METRICS));

  /** Those that are always there. */
  public static final Routes ALWAYS = new Routes(List.of());

  private final Map<String, Route> byPath = new HashMap<>();

  /**
   * The usual paths and some more.
   *
   * @param more paths that a replica answers too
   */
  public Routes(List<PassedPath> more) {
    DEFAULT.forEach(route -> byPath.put(route.path(), route));
    for (PassedPath path : more) {
      Route route = new Route(path.path(), List.of(path.method()), Route.Work.COMPUTES, null, null);
      byPath.merge(path.path(), route, Route::with);
    }
  }

  /** The one with this path. */
  public Optional<Route> find(String path) {
    Route route = byPath.get(path);
    if (route == null && storedId(path) != null) {
      route = path.endsWith(CANCEL_SUFFIX) ? CANCEL : STORED;
    }
    if (route == null && path.length() > MODEL_PREFIX.length() && path.startsWith(MODEL_PREFIX)) {
      route = MODEL;
    }
    return Optional.ofNullable(route);
  }

  /**
   * The name in a path of one model, whose slashes may be written as {@code %2F}; null if it is
   * written wrongly.
   */
  public static @Nullable String modelId(String path) {
    try {
      String id = path.substring(MODEL_PREFIX.length()).replace("+", "%2B");
      return URLDecoder.decode(id, StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  /** The id in a path of a stored response; null in every other path. */
  public static @Nullable String storedId(String path) {
    if (!path.startsWith(STORED_PREFIX)) {
      return null;
    }
    int end = path.length() - (path.endsWith(CANCEL_SUFFIX) ? CANCEL_SUFFIX.length() : 0);
    String id = end < STORED_PREFIX.length() ? "" : path.substring(STORED_PREFIX.length(), end);
    return StoredResponses.isId(id) ? id : null;
  }
}
