package dev.warmpath.router.config;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One replica as it was configured.
 *
 * <p>Immutable.
 *
 * @param url {@code http://host:port}, without path
 * @param events ZMQ endpoint of its KV events, or null when it has none
 * @param replay ZMQ endpoint that replays missed events, or null
 * @param bind true when the router binds the events endpoint
 * @param models what it serves until it says so itself; empty for anything
 */
public record ReplicaConfig(
    String name,
    URI url,
    @Nullable String events,
    @Nullable String replay,
    boolean bind,
    Dialect dialect,
    List<String> models) {

  /** Which engine's rules it follows. */
  public enum Dialect {
    VLLM,
    SGLANG;

    static Dialect of(String name) {
      return valueOf(name.toUpperCase(Locale.ROOT));
    }
  }

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,62}");

  public ReplicaConfig {
    models = List.copyOf(models);
    if (!NAME.matcher(name).matches()) {
      throw new IllegalArgumentException(
          "'name' must be letters, digits, '.', '_', '-', at most 63: '" + name + "'");
    }
    checkUrl(url);
    checkEndpoint("events", events);
    checkEndpoint("replay", replay);
    if (events == null && (replay != null || bind)) {
      throw new IllegalArgumentException("'replay' and 'bind' need 'events'");
    }
  }

  static URI parseUrl(String text) {
    try {
      return new URI(text);
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException("'url' is not a URL: '" + text + "'", e);
    }
  }

  /** The port of {@link #url}, 80 when it names none. */
  public int port() {
    return url.getPort() < 0 ? 80 : url.getPort();
  }

  private static void checkUrl(URI url) {
    boolean bare = url.getRawQuery() == null && url.getRawUserInfo() == null;
    boolean noPath = url.getRawPath() == null || url.getRawPath().matches("/?");
    if (!"http".equals(url.getScheme()) || url.getHost() == null || !bare || !noPath) {
      throw new IllegalArgumentException(
          "'url' must be http://host:port without path: '" + url + "'");
    }
  }

  private static void checkEndpoint(String key, @Nullable String endpoint) {
    if (endpoint != null && !endpoint.matches("(tcp|ipc|inproc)://.+")) {
      throw new IllegalArgumentException(
          "'" + key + "' must be a ZMQ endpoint such as tcp://host:5557: '" + endpoint + "'");
    }
  }
}
