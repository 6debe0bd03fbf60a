package dev.warmpath.router.upstream;

import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.upstream.Upstreams.Credentials;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.net.SocketAddress;
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
  private final @Nullable SocketAddress server;

  /**
   * @param address to connect to instead of looking up the host's name; null to look it up
   */
  Upstream(Replica replica, Credentials credentials, @Nullable String address) {
    URI url = replica.baseUrl();
    this.tls = isHttps(url);
    this.host = withoutBrackets(url.getHost());
    this.port = url.getPort() >= 0 ? url.getPort() : tls ? HTTPS_PORT : HTTP_PORT;
    this.credentials = credentials;
    this.server = address == null ? null : SocketAddress.inetSocketAddress(port, address);
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
    options.setHost(host).setPort(port).setServer(server);
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
