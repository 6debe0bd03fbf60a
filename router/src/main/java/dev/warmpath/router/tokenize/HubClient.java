package dev.warmpath.router.tokenize;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One repository of the hub, as its protocol is documented: a list of files at a commit, and of
 * each file its ETag, its size and its content. Blocks. Redirects are followed here, so that the
 * token goes to the hub's own address (scheme, host and port) and never to another, such as the
 * store of files that the hub sends one to.
 *
 * <p>Confined to the thread that downloads.
 */
final class HubClient {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int MOST_REDIRECTS = 5;
  private static final int CONNECT_MILLIS = 10_000;
  private static final int LIST_BYTES = 16 << 20;
  private static final String LINKED_ETAG = "X-Linked-Etag";
  private static final Pattern ETAG = Pattern.compile("(?:W/)?\"?([A-Za-z0-9][\\w.-]{0,127})\"?");

  /** What a header may carry; the platform's own complaint would show the value. */
  private static final Pattern TOKEN = Pattern.compile("[!-~]+");

  /** The files of one commit. */
  record Listing(String commit, List<String> files) {}

  /**
   * A file of a commit.
   *
   * @param etag identifies its content, and names it in the cache
   * @param sizeBytes -1 if the hub does not tell
   */
  record Entry(String name, String etag, long sizeBytes) {}

  private final HubPlace place;
  private final URI endpoint;
  private final @Nullable String token;
  private final int idleMillis;

  /** A client that gives up a server after {@code idleMillis} of silence. */
  HubClient(HubSettings settings, HubPlace place, int idleMillis) throws HubFailure {
    this.place = place;
    this.endpoint = endpoint(settings.endpoint());
    this.token = settings.token();
    this.idleMillis = idleMillis;
    if (token != null && !TOKEN.matcher(token).matches()) {
      throw HubFailure.lasting("HF_TOKEN is no token: there are blanks or foreign letters in it");
    }
  }

  private static URI endpoint(String text) throws HubFailure {
    try {
      URI uri = new URI(text);
      if (isHttp(uri) && uri.getUserInfo() == null && uri.getRawQuery() == null) {
        return uri;
      }
    } catch (URISyntaxException e) {
      // said below, without what may be a password in it
    }
    throw HubFailure.lasting("HF_ENDPOINT must be http(s)://HOST[:PORT][/PATH]");
  }

  /** What the revision holds now. */
  Listing listing() throws IOException {
    String path = "/api/models/" + place.repository() + "/revision/" + place.revision();
    byte[] body;
    try (InputStream in = open("GET", path, "list of files").getInputStream()) {
      body = in.readNBytes(LIST_BYTES + 1);
    }
    if (body.length > LIST_BYTES) {
      throw HubFailure.lasting("the list of files is longer than " + LIST_BYTES + " bytes");
    }
    JsonNode read = json(body);
    String commit = read.path("sha").asText();
    if (!HubCache.isCommit(commit)) {
      throw notAHub();
    }
    List<String> files = new ArrayList<>();
    read.path("siblings").forEach(file -> files.add(file.path("rfilename").asText()));
    return new Listing(commit, files);
  }

  private JsonNode json(byte[] body) throws IOException {
    try {
      return JSON.readTree(body);
    } catch (JsonProcessingException e) {
      throw notAHub();
    }
  }

  private HubFailure notAHub() {
    return HubFailure.lasting(endpoint.getHost() + " does not answer as a hub does");
  }

  /** What is known of a file before it is fetched. */
  Entry file(String commit, String name) throws IOException {
    HttpURLConnection answer = open("HEAD", path(commit, name), name);
    Optional<String> linked = Optional.ofNullable(answer.getHeaderField(LINKED_ETAG));
    String etag = linked.orElse(Objects.requireNonNullElse(answer.getHeaderField("ETag"), ""));
    Matcher named = ETAG.matcher(etag);
    if (!named.matches()) {
      throw HubFailure.lasting("the hub gives no usable ETag for " + name);
    }
    String size = linked.isPresent() ? "X-Linked-Size" : "Content-Length";
    return new Entry(name, named.group(1), answer.getHeaderFieldLong(size, -1));
  }

  /** The content of a file, to be closed. */
  InputStream content(String commit, String name) throws IOException {
    return open("GET", path(commit, name), name).getInputStream();
  }

  private String path(String commit, String name) {
    return "/" + place.repository() + "/resolve/" + commit + "/" + name;
  }

  /**
   * The answer at the end of the redirects, or the first that describes a file stored elsewhere.
   */
  private HttpURLConnection open(String method, String path, String what) throws IOException {
    URI at = URI.create(endpoint + path);
    for (int hop = 0; hop <= MOST_REDIRECTS; hop++) {
      HttpURLConnection answer = answer(method, at);
      if (method.equals("HEAD") && answer.getHeaderField(LINKED_ETAG) != null) {
        return answer;
      }
      String location = location(answer);
      if (location == null) {
        if (answer.getResponseCode() != HttpURLConnection.HTTP_OK) {
          throw HubFailure.of(answer, place, token != null, what);
        }
        return answer;
      }
      answer.disconnect();
      at = next(at, location);
    }
    throw HubFailure.lasting("more than " + MOST_REDIRECTS + " redirects");
  }

  private HttpURLConnection answer(String method, URI at) throws IOException {
    HttpURLConnection request = (HttpURLConnection) at.toURL().openConnection();
    request.setRequestMethod(method);
    request.setInstanceFollowRedirects(false);
    request.setUseCaches(false);
    request.setConnectTimeout(CONNECT_MILLIS);
    request.setReadTimeout(idleMillis);
    request.setRequestProperty("User-Agent", "warmpath");
    request.setRequestProperty("Accept-Encoding", "identity");
    if (token != null && isSameOrigin(endpoint, at)) {
      request.setRequestProperty("Authorization", "Bearer " + token);
    }
    try {
      request.connect();
      request.getResponseCode();
      return request;
    } catch (IOException e) {
      throw HubFailure.passing(
          at.getHost() + ": " + e.getClass().getSimpleName() + ": " + e.getMessage());
    }
  }

  private static @Nullable String location(HttpURLConnection answer) throws IOException {
    return switch (answer.getResponseCode()) {
      case 301, 302, 303, 307, 308 -> answer.getHeaderField("Location");
      default -> null;
    };
  }

  private static URI next(URI at, String location) throws HubFailure {
    URI next;
    try {
      next = at.resolve(location);
    } catch (IllegalArgumentException e) {
      throw HubFailure.lasting(at.getHost() + " redirects to what is no address");
    }
    if (!isHttp(next) || (isSecure(at) && !isSecure(next))) {
      throw HubFailure.lasting(at.getHost() + " redirects to an address that is not secure");
    }
    return next;
  }

  static boolean isSameOrigin(URI one, URI other) {
    return one.getScheme().equalsIgnoreCase(other.getScheme())
        && one.getHost().equalsIgnoreCase(other.getHost())
        && port(one) == port(other);
  }

  private static int port(URI uri) {
    return uri.getPort() < 0 ? (isSecure(uri) ? 443 : 80) : uri.getPort();
  }

  private static boolean isHttp(URI uri) {
    String scheme = uri.getScheme() == null ? "" : uri.getScheme();
    boolean known = scheme.equalsIgnoreCase("https") || scheme.equalsIgnoreCase("http");
    return known && uri.getHost() != null;
  }

  private static boolean isSecure(URI uri) {
    return uri.getScheme().equalsIgnoreCase("https");
  }
}
