package dev.warmpath.router.proxy;

import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Where a request's head leads to. Its target may be absolute (RFC 9112, 3.2.2): it leads where its
 * path does, and its host stands for the header {@code Host}. There is none for a head that a proxy
 * before this one, or a replica, may read in another way.
 *
 * <p>Immutable.
 *
 * @param uri path and query, as a replica is asked
 * @param path the path, as it came
 * @param host host and port that the client named, or null
 */
public record RequestHead(String uri, String path, @Nullable String host) {

  private static final int DELETE = 0x7f;
  private static final List<String> CHUNKED = List.of("chunked");
  private static final String CLOSE = "close";

  /** A host and perhaps a port; no user. */
  private static final String AUTHORITY =
      "(?:[A-Za-z0-9._~%!$&'()*+,;=-]+|\\[[A-Za-z0-9:.%_~-]+])(?::[0-9]{0,5})?";

  private static final Pattern HOST = Pattern.compile(AUTHORITY);
  private static final Pattern ABSOLUTE =
      Pattern.compile(
          "(?:http|https)://(" + AUTHORITY + ")((?:[/?].*)?)", Pattern.CASE_INSENSITIVE);

  /** What a request's head says; null if it can be understood in more than one way. */
  public static @Nullable RequestHead of(HttpServerRequest request) {
    MultiMap headers = request.headers();
    String target = Objects.requireNonNullElse(request.uri(), "");
    if (!target.chars().allMatch(c -> c > ' ' && c != DELETE && c != '#')
        || hasOtherCoding(headers)
        || headers.contains("")) {
      return null;
    }
    boolean http2 = request.version() == HttpVersion.HTTP_2;
    List<String> hosts = headers.getAll(HttpHeaders.HOST);
    boolean hasHost = hosts.size() == 1 && (hosts.get(0).isEmpty() || isHost(hosts.get(0)));
    boolean mayLackHost = http2 || request.version() == HttpVersion.HTTP_1_0;
    if (!hasHost && !(hosts.isEmpty() && mayLackHost)) {
      return null;
    }
    String named = http2 ? Objects.toString(request.authority(), null) : null;
    String host = named == null && hasHost ? hosts.get(0) : named;
    RequestHead head = http2 ? ofPath(target, host) : ofTarget(target, host);
    return head != null && head.path.equals(request.path()) ? head : null;
  }

  private static @Nullable RequestHead ofTarget(String target, @Nullable String host) {
    if (target.startsWith("/")) {
      return ofPath(target, host);
    }
    Matcher absolute = ABSOLUTE.matcher(target);
    if (!absolute.matches()) {
      return null;
    }
    String rest = absolute.group(2);
    return ofPath(rest.startsWith("/") ? rest : "/" + rest, absolute.group(1));
  }

  private static @Nullable RequestHead ofPath(String uri, @Nullable String host) {
    int query = uri.indexOf('?');
    String path = query < 0 ? uri : uri.substring(0, query);
    return uri.startsWith("/") ? new RequestHead(uri, path, host) : null;
  }

  private static boolean isHost(String value) {
    return HOST.matcher(value).matches();
  }

  private static boolean hasOtherCoding(MultiMap headers) {
    return headers.contains(HttpHeaders.TRANSFER_ENCODING)
        && !CHUNKED.equals(headers.getAll(HttpHeaders.TRANSFER_ENCODING));
  }

  /** Whether the client's connection ends with this request, whatever else its header lists. */
  public static boolean endsConnection(HttpServerRequest request) {
    return request.version() == HttpVersion.HTTP_1_1
        && Headers.namedByConnection(request.headers()).contains(CLOSE);
  }

  /** Whether the client waits for 100 before it sends the body. */
  public static boolean expectsContinue(HttpServerRequest request) {
    return request.version() != HttpVersion.HTTP_1_0
        && request.headers().contains(HttpHeaders.EXPECT, HttpHeaders.CONTINUE, true);
  }

  /** Whether the client expects what no server here does. */
  public static boolean expectsOther(HttpServerRequest request) {
    List<String> expected = request.headers().getAll(HttpHeaders.EXPECT);
    return !expected.isEmpty()
        && request.version() != HttpVersion.HTTP_1_0
        && !expected.stream().allMatch(value -> value.trim().equalsIgnoreCase("100-continue"));
  }
}
