package dev.warmpath.router.console;

import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.proxy.RequestHead;
import dev.warmpath.router.security.AdminKey;
import dev.warmpath.router.security.Secrets;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Who may use the admin endpoints: with a key those that have it, else those that ask by an address
 * of this machine. Pages of other sites may change nothing in either case.
 *
 * <p>Thread-safe.
 */
final class AdminGuard {

  /*
   * A page of another site can let its own name point to this address, and is then of the same site
   * as the answers. So a name that is nobody's of ours is refused, unless a key is asked for, which
   * such a page does not have.
   */

  private static final Pattern ADDRESS = Pattern.compile("[0-9.]+|\\[[0-9A-Fa-f:.%]+]|localhost");
  private static final Pattern PORT = Pattern.compile(":[0-9]*$");

  /** Why a request is refused. */
  record Refusal(int status, String why) {}

  private final RouterConfig.Admin config;
  private final @Nullable AdminKey key;

  AdminGuard(RouterConfig.Admin config, @Nullable AdminKey key) {
    this.config = config;
    this.key = key;
  }

  /**
   * Why this request is refused; null if it is not.
   *
   * @param path its path in normal form, by which it is routed
   */
  @Nullable Refusal refusal(HttpServerRequest request, RequestHead head, String path) {
    boolean isRead =
        request.method().equals(HttpMethod.GET) || request.method().equals(HttpMethod.HEAD);
    boolean keepsPlace = path.equals(ConsoleEndpoints.LIVE); // of which there are few
    if ((!isRead || keepsPlace) && isCrossSite(request, head.host())) {
      return new Refusal(403, "a page of another site may not ask for this");
    }
    if (isRead && path.equals("/metrics") && (key == null || config.openMetrics())) {
      return null;
    }
    if (key == null) {
      return isOurs(head.host())
          ? null
          : new Refusal(403, "ask by an IP address or localhost, or set admin.key-file");
    }
    return key.accepts(Secrets.bearer(request.getHeader("authorization")))
        ? null
        : new Refusal(401, "the admin key is needed, as Authorization: Bearer KEY");
  }

  private boolean isOurs(@Nullable String host) {
    if (host == null) {
      return true; // no browser
    }
    String name = PORT.matcher(host).replaceFirst("");
    return ADDRESS.matcher(name).matches() || name.equalsIgnoreCase(config.host());
  }

  /** Browsers say from where a page's request comes; other clients say nothing. */
  private static boolean isCrossSite(HttpServerRequest request, @Nullable String host) {
    String site = request.getHeader("sec-fetch-site");
    if (site != null) {
      return !site.equals("same-origin") && !site.equals("none");
    }
    String origin = request.getHeader("origin");
    String scheme = request.isSSL() ? "https://" : "http://";
    return origin != null && (host == null || !origin.equalsIgnoreCase(scheme + host));
  }
}
