package dev.warmpath.router.tokenize;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A hub and the store that it sends one to for large files, each on a port of its own, with faults
 * on demand.
 *
 * <p>Thread-safe.
 */
final class FakeHub implements AutoCloseable {

  static final String COMMIT = "0123456789abcdef0123456789abcdef01234567";
  static final int LARGE_BYTES = 1_000;

  private static final String REPOSITORY = "/org/model";

  /** A request as a server saw it. */
  record Seen(String method, String path, @Nullable String token) {}

  /** What a server does with a request in the place of answering it; false: nothing. */
  interface Fault {
    boolean at(HttpExchange exchange) throws IOException;
  }

  final List<Seen> hub = new CopyOnWriteArrayList<>();
  final List<Seen> store = new CopyOnWriteArrayList<>();
  final Map<String, byte[]> files = new ConcurrentHashMap<>();
  volatile Fault hubFault = exchange -> false;
  volatile Fault storeFault = exchange -> false;

  private final HttpServer hubServer;
  private final HttpServer storeServer;
  private final ExecutorService threads = Executors.newCachedThreadPool();

  FakeHub() throws IOException {
    hubServer = start(this::answer);
    storeServer = start(this::send);
  }

  private HttpServer start(com.sun.net.httpserver.HttpHandler handler) throws IOException {
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    server.createContext("/", handler);
    server.setExecutor(threads);
    server.start();
    return server;
  }

  String endpoint() {
    return "http://127.0.0.1:" + hubServer.getAddress().getPort();
  }

  void put(String name, String text) {
    files.put(name, text.getBytes(UTF_8));
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      hub.add(seen(exchange));
      String path = exchange.getRequestURI().getPath();
      if (hubFault.at(exchange)) {
        return;
      }
      if (path.equals("/api/models" + REPOSITORY + "/revision/main")) {
        list(exchange);
      } else if (path.startsWith(REPOSITORY + "/resolve/" + COMMIT + "/")) {
        resolve(exchange, path.substring((REPOSITORY + "/resolve/" + COMMIT + "/").length()));
      } else {
        boolean known = path.startsWith("/api/models" + REPOSITORY + "/");
        refuse(exchange, 404, known ? "RevisionNotFound" : "RepoNotFound");
      }
    }
  }

  static boolean refuse(HttpExchange exchange, int status, String code) throws IOException {
    exchange.getResponseHeaders().add("X-Error-Code", code);
    exchange.sendResponseHeaders(status, -1);
    return true;
  }

  private void list(HttpExchange exchange) throws IOException {
    String names =
        files.keySet().stream()
            .map(name -> "{\"rfilename\":\"" + name + "\"}")
            .collect(Collectors.joining(","));
    body(exchange, ("{\"sha\":\"" + COMMIT + "\",\"siblings\":[" + names + "]}").getBytes(UTF_8));
  }

  private void resolve(HttpExchange exchange, String name) throws IOException {
    byte[] content = files.get(name);
    if (content == null) {
      refuse(exchange, 404, "EntryNotFound");
    } else if (content.length < LARGE_BYTES) {
      exchange.getResponseHeaders().add("ETag", "\"" + etag(content) + "\"");
      body(exchange, content);
    } else {
      exchange.getResponseHeaders().add("X-Linked-Etag", "\"" + etag(content) + "\"");
      exchange.getResponseHeaders().add("X-Linked-Size", String.valueOf(content.length));
      int port = storeServer.getAddress().getPort();
      String to = "http://127.0.0.1:" + port + "/" + name + "?signature=sig-secret";
      exchange.getResponseHeaders().add("Location", to);
      exchange.sendResponseHeaders(302, -1);
    }
  }

  private void send(HttpExchange exchange) throws IOException {
    try (exchange) {
      store.add(seen(exchange));
      if (!storeFault.at(exchange)) {
        body(exchange, files.get(exchange.getRequestURI().getPath().substring(1)));
      }
    }
  }

  private static void body(HttpExchange exchange, byte[] content) throws IOException {
    if (exchange.getRequestMethod().equals("HEAD")) {
      exchange.getResponseHeaders().add("Content-Length", String.valueOf(content.length));
      exchange.sendResponseHeaders(200, -1);
    } else {
      exchange.sendResponseHeaders(200, content.length);
      exchange.getResponseBody().write(content);
    }
  }

  /** Sends so many bytes of what is asked for, and hangs up. */
  boolean cut(HttpExchange exchange, int bytes) throws IOException {
    byte[] content = files.get(exchange.getRequestURI().getPath().substring(1));
    exchange.sendResponseHeaders(200, content.length);
    OutputStream out = exchange.getResponseBody();
    out.write(content, 0, bytes);
    out.flush();
    return true;
  }

  private static Seen seen(HttpExchange exchange) {
    return new Seen(
        exchange.getRequestMethod(),
        exchange.getRequestURI().getPath(),
        exchange.getRequestHeaders().getFirst("Authorization"));
  }

  /** As the hub names it: Git's hash of small files, SHA-256 of large ones. */
  static String etag(byte[] content) {
    byte[] head = ("blob " + content.length + "\0").getBytes(UTF_8);
    byte[] all = Arrays.copyOf(head, head.length + content.length);
    System.arraycopy(content, 0, all, head.length, content.length);
    return content.length < LARGE_BYTES ? hash("SHA-1", all) : hash("SHA-256", content);
  }

  private static String hash(String algorithm, byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance(algorithm).digest(bytes));
    } catch (java.security.NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    hubServer.stop(0);
    storeServer.stop(0);
    threads.shutdownNow();
  }
}
