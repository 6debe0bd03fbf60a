package dev.warmpath.router.tokenize;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.router.tokenize.HubDownload.HubClient.Entry;
import dev.warmpath.router.tokenize.HubDownload.HubClient.Listing;
import dev.warmpath.router.tokenize.HubFiles.Environment;
import dev.warmpath.router.tokenize.HubFiles.HubSettings;
import dev.warmpath.tokenizer.files.ModelFiles;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings the tokenizer files of one model into the cache. The snapshot is filled only when all of
 * them are there and checked, the tokenizer last, so that no reader finds half a model. A failed
 * request is sent once more.
 *
 * <p>Confined to the thread that downloads.
 */
final class HubDownload {

  private static final Logger LOG = LoggerFactory.getLogger(HubDownload.class);

  static final long FILE_BYTES = 256L << 20;
  static final long TOTAL_BYTES = 512L << 20;
  private static final int MOST_FILES = 64;
  private static final long PAUSE_MILLIS = 1_000;
  private static final long LONGEST_PAUSE_MILLIS = 60_000;
  private static final int BUFFER_BYTES = 1 << 16;

  /** An ETag that is a hash of the content: SHA-256 of large files, else Git's SHA-1. */
  private static final Pattern SHA256 = Pattern.compile("[0-9a-f]{64}");

  private static final Pattern SHA1 = Pattern.compile("[0-9a-f]{40}");

  /** One request. */
  private interface Attempt<T> {
    T make() throws IOException, InterruptedException;
  }

  private final HubPlace place;
  private final HubCache cache;
  private final Environment environment;
  private final HubListener listener;
  private final HubClient client;
  private final long endNanos;
  private long doneBytes;
  private long totalBytes;

  HubDownload(
      HubPlace place,
      HubCache cache,
      HubSettings settings,
      Environment environment,
      HubListener listener)
      throws IOException {
    this.place = place;
    this.cache = cache;
    this.environment = environment;
    this.listener = listener;
    this.client = new HubClient(settings, place, environment.idleMillis());
    this.endNanos =
        environment.nanoClock().getAsLong()
            + TimeUnit.MILLISECONDS.toNanos(environment.totalMillis());
  }

  /** The directory with the files. */
  Path run() throws IOException, InterruptedException {
    Listing listing = retried(client::listing);
    List<Entry> entries = entries(listing);
    LOG.info("downloading {} files of {}, {} bytes", entries.size(), place, totalBytes);
    for (Entry entry : entries) {
      bring(listing.commit(), entry);
    }
    listener.show(totalBytes, totalBytes);
    for (Entry entry : entries) {
      cache.link(listing.commit(), entry.name(), entry.etag());
    }
    cache.refer(listing.commit());
    return cache.snapshot(listing.commit());
  }

  /** What is still to be brought, the tokenizer last. */
  private List<Entry> entries(Listing listing) throws IOException, InterruptedException {
    if (!listing.files().contains(HubCache.LAST)) {
      throw HubFailure.lasting(place.repository() + " has no " + HubCache.LAST);
    }
    List<String> names =
        listing.files().stream()
            .filter(ModelFiles::reads)
            .filter(name -> !Files.exists(cache.snapshot(listing.commit()).resolve(name)))
            .sorted(Comparator.comparing(HubCache.LAST::equals))
            .toList();
    bound(names.size(), MOST_FILES, "files that belong to the tokenizer");
    List<Entry> entries = new ArrayList<>();
    for (String name : names) {
      Entry entry = retried(() -> client.file(listing.commit(), name));
      bound(entry.sizeBytes(), FILE_BYTES, "bytes of " + name);
      totalBytes += Math.max(0, entry.sizeBytes());
      entries.add(entry);
    }
    bound(totalBytes, TOTAL_BYTES, "bytes in all");
    return entries;
  }

  private static void bound(long count, long most, String what) throws HubFailure {
    if (count > most) {
      throw HubFailure.lasting("%d %s, more than the %d allowed".formatted(count, what, most));
    }
  }

  private void bring(String commit, Entry entry) throws IOException, InterruptedException {
    Path blob = cache.blob(entry.etag());
    if (!Files.exists(blob)) {
      Files.createDirectories(HubCache.parent(blob));
      Path part = HubCache.temporary(blob);
      try {
        retried(() -> {
          receive(commit, entry, part);
          return part;
        });
        HubCache.move(part, blob);
      } finally {
        Files.deleteIfExists(part);
      }
    }
    doneBytes += Math.max(0, entry.sizeBytes());
    listener.show(doneBytes, totalBytes);
  }

  private void receive(String commit, Entry entry, Path part)
      throws IOException, InterruptedException {
    long limit = entry.sizeBytes() < 0 ? FILE_BYTES : entry.sizeBytes();
    long length = 0;
    byte[] buffer = new byte[BUFFER_BYTES];
    try (InputStream in = client.content(commit, entry.name());
        FileOutputStream out = new FileOutputStream(part.toFile())) {
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        length += read;
        if (length > limit) {
          throw HubFailure.lasting("more than " + limit + " bytes came");
        }
        requireTime();
        out.write(buffer, 0, read);
        listener.show(Math.max(0, Math.min(doneBytes + length, totalBytes - 1)), totalBytes);
      }
      out.getFD().sync();
    }
    boolean whole = entry.sizeBytes() < 0 || length == entry.sizeBytes();
    if (!whole || !isNamed(part, length, entry.etag())) {
      throw HubFailure.passing(
          "what came of " + entry.name() + " is not what the hub names " + entry.etag());
    }
  }

  private void requireTime() throws HubFailure, InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    if (isLate()) {
      throw HubFailure.lasting("not over after " + environment.totalMillis() + " ms");
    }
  }

  private boolean isLate() {
    return environment.nanoClock().getAsLong() - endNanos >= 0;
  }

  /** What a request gives, which is sent once more if that may help. */
  private <T> T retried(Attempt<T> request) throws IOException, InterruptedException {
    try {
      return request.make();
    } catch (IOException e) {
      long wish = e instanceof HubFailure failure ? failure.waitMillis() : 0;
      boolean lasting = e instanceof HubFailure failure && !failure.isPassing();
      if (lasting || wish > LONGEST_PAUSE_MILLIS || isLate()) {
        throw e;
      }
      listener.retried();
      environment.pause().millis(Math.max(wish, PAUSE_MILLIS));
      return request.make();
    }
  }

  /** Whether the content has the hash that the hub names it by, if that is a hash. */
  private static boolean isNamed(Path file, long length, String etag) throws IOException {
    if (SHA256.matcher(etag).matches()) {
      return etag.equals(hash(file, "SHA-256", ""));
    }
    return !SHA1.matcher(etag).matches()
        || etag.equals(hash(file, "SHA-1", "blob " + length + "\0"))
        || etag.equals(hash(file, "SHA-1", ""));
  }

  private static String hash(Path file, String algorithm, String before) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      MessageDigest digest = MessageDigest.getInstance(algorithm);
      digest.update(before.getBytes(StandardCharsets.US_ASCII));
      byte[] buffer = new byte[BUFFER_BYTES];
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        digest.update(buffer, 0, read);
      }
      return HexFormat.of().formatHex(digest.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("algorithm=" + algorithm, e);
    }
  }

  /**
   * One repository of the hub, as its protocol is documented: a list of files at a commit, and of
   * each file its ETag, its size and its content. Blocks. Redirects are followed here, so that the
   * token goes to the hub's own address (scheme, host and port) and never to another, such as the
   * store of files that the hub sends one to.
   *
   * <p>Confined to the thread that downloads.
   */
  static final class HubClient {

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
}
