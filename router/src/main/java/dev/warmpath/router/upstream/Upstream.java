package dev.warmpath.router.upstream;

import dev.warmpath.router.fleet.Replica;
import io.vertx.core.http.RequestOptions;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * How one replica is reached.
 *
 * <p>Thread-safe.
 */
public final class Upstream {

  private static final int HTTP_PORT = 80;
  private static final int HTTPS_PORT = 443;

  private final String host;
  private final int port;
  private final boolean tls;
  private final Credentials credentials;

  Upstream(Replica replica, Credentials credentials) {
    URI url = replica.baseUrl();
    this.tls = isHttps(url);
    this.host = withoutBrackets(url.getHost());
    this.port = url.getPort() >= 0 ? url.getPort() : tls ? HTTPS_PORT : HTTP_PORT;
    this.credentials = credentials;
  }

  static boolean isHttps(URI url) {
    return "https".equals(url.getScheme());
  }

  private static String withoutBrackets(String host) {
    return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
  }

  /** A request that will go there. */
  public RequestOptions options() {
    return on(new RequestOptions());
  }

  /** Has {@code options} lead there. */
  public <O extends RequestOptions> O on(O options) {
    options.setHost(host).setPort(port);
    if (tls) {
      options.setSsl(true).setSslOptions(credentials.tls());
    }
    return options;
  }

  /** The header {@code Authorization} of all requests there; null for none of ours. */
  public @Nullable String authorization() {
    return credentials.authorization();
  }

  Credentials credentials() {
    return credentials;
  }
}
