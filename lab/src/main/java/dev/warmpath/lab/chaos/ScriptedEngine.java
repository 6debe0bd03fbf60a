package dev.warmpath.lab.chaos;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * An engine's HTTP/1.1 port that does with each request what the request's header {@value #SCRIPT}
 * says, on plain sockets, so that it can also send what no server library would.
 *
 * <table>
 *   <caption>Scripts; times in milliseconds</caption>
 *   <tr><td>none</td><td>a chat completion, streamed if the body asks for it</td></tr>
 *   <tr><td>{@code late N}</td><td>the same after N</td></tr>
 *   <tr><td>{@code silent N}</td><td>one token, N without a byte, the rest</td></tr>
 *   <tr><td>{@code poison}</td><td>the engine dies: all connections close, none is accepted</td></tr>
 *   <tr><td>{@code interim}</td><td>102 and 103, then the answer</td></tr>
 *   <tr><td>{@code switch}</td><td>101 to a request that asked for no upgrade</td></tr>
 * </table>
 *
 * <p>Thread-safe.
 */
final class ScriptedEngine implements AutoCloseable {

  static final String SCRIPT = "x-day-script";

  private static final int BACKLOG = 512;
  private static final int PIECE_BYTES = 65_536;
  private static final String CHAT =
      "{\"id\":\"day\",\"object\":\"chat.completion\",\"model\":\"m\",\"choices\":[{\"index\":0,\"message\":"
          + "{\"role\":\"assistant\",\"content\":\"ok\"},\"finish_reason\":\"stop\"}],"
          + "\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1,\"total_tokens\":4}}";
  private static final String TOKEN =
      "data:"
          + " {\"id\":\"day\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ok\"},\"finish_reason\":null}]}\n\n";
  private static final String DONE = "data: [DONE]\n\n";

  private final String name;
  private final ExecutorService threads;
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private final AtomicInteger requests = new AtomicInteger();
  private final int port;
  private volatile ServerSocket listening;
  private volatile boolean dead;
  private volatile boolean retired;
  private volatile int healthMillis;

  /** Listens on any port of the loopback interface. */
  ScriptedEngine(String name) {
    this.name = name;
    threads =
        Executors.newCachedThreadPool(work -> {
          Thread thread = new Thread(work, "day-" + name);
          thread.setDaemon(true);
          return thread;
        });
    listening = listen(0);
    port = listening.getLocalPort();
    accept(listening);
  }

  String name() {
    return name;
  }

  int port() {
    return port;
  }

  /** Requests that came whole, health checks and the like not counted. */
  int requests() {
    return requests.get();
  }

  boolean isDead() {
    return dead;
  }

  /** Answers {@code /health} so late. */
  void delayHealth(int millis) {
    healthMillis = millis;
  }

  /** Answers every request with 503 and goes on being healthy, as an engine that was paused. */
  void retire(boolean retired) {
    this.retired = retired;
  }

  /** Back after a death, on the same port. */
  void revive() {
    if (dead) {
      listening = listen(port);
      dead = false;
      accept(listening);
    }
  }

  @Override
  public void close() {
    die();
    threads.shutdownNow();
  }

  private void die() {
    dead = true;
    try {
      listening.close();
      for (Socket socket : sockets) {
        socket.close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void accept(ServerSocket from) {
    threads.execute(() -> {
      try {
        while (true) {
          Socket socket = from.accept();
          sockets.add(socket);
          threads.execute(() -> serve(socket));
        }
      } catch (IOException e) {
        // dead: nobody is accepted any more
      }
    });
  }

  private void serve(Socket socket) {
    try (socket) {
      socket.setTcpNoDelay(true);
      InputStream in = new BufferedInputStream(socket.getInputStream(), PIECE_BYTES);
      OutputStream out = socket.getOutputStream();
      while (!dead && answer(Request.read(in), out)) {
        out.flush();
      }
    } catch (IOException e) {
      // the router has left
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      sockets.remove(socket);
    }
  }

  /** Whether the connection stays. */
  private boolean answer(Request request, OutputStream out)
      throws IOException, InterruptedException {
    switch (request.path) {
      case "/health" -> {
        TimeUnit.MILLISECONDS.sleep(healthMillis);
        return whole(out, "200 OK", "");
      }
      case "/v1/models" -> {
        return whole(
            out, "200 OK", "{\"object\":\"list\",\"data\":[{\"id\":\"m\",\"root\":\"m\"}]}");
      }
      case "/metrics" -> {
        return whole(out, "200 OK", "process_start_time_seconds 1.7e9\n");
      }
      default -> {
        return request.method.equals("POST")
            ? compute(request, out)
            : whole(out, "404 Not Found", "{}");
      }
    }
  }

  private boolean compute(Request request, OutputStream out)
      throws IOException, InterruptedException {
    requests.incrementAndGet();
    if (retired) {
      return whole(out, "503 Service Unavailable", "{\"error\":{\"message\":\"paused\"}}");
    }
    String[] script = request.headers.getOrDefault(SCRIPT, "").split(" ", 2);
    int millis = script.length == 2 ? Integer.parseInt(script[1]) : 0;
    switch (script[0]) {
      case "poison" -> {
        die();
        return false;
      }
      case "switch" -> {
        write(
            out, "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: day\r\n\r\n");
        return false;
      }
      case "interim" ->
          write(
              out, "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n");
      case "late" -> TimeUnit.MILLISECONDS.sleep(millis);
      default -> {}
    }
    return request.streamed
        ? stream(out, script[0].equals("silent") ? millis : 0)
        : whole(out, "200 OK", CHAT);
  }

  private static boolean stream(OutputStream out, int silentMillis)
      throws IOException, InterruptedException {
    write(
        out,
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
            + chunk(TOKEN));
    TimeUnit.MILLISECONDS.sleep(silentMillis);
    write(out, chunk(TOKEN) + chunk(DONE) + "0\r\n\r\n");
    return true;
  }

  private static String chunk(String text) {
    return Integer.toHexString(text.length()) + "\r\n" + text + "\r\n";
  }

  private static boolean whole(OutputStream out, String status, String body) throws IOException {
    write(
        out,
        "HTTP/1.1 %s\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s"
            .formatted(status, body.length(), body));
    return true;
  }

  private static void write(OutputStream out, String text) throws IOException {
    out.write(text.getBytes(UTF_8));
    out.flush();
  }

  private static ServerSocket listen(int port) {
    try {
      ServerSocket socket = new ServerSocket();
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), BACKLOG);
      return socket;
    } catch (IOException e) {
      throw new UncheckedIOException("port " + port, e);
    }
  }

  /** A request whose body has come and is forgotten. */
  private record Request(
      String method, String path, Map<String, String> headers, boolean streamed) {

    static Request read(InputStream in) throws IOException {
      String[] first = line(in).split(" ", -1);
      Map<String, String> headers = new HashMap<>();
      for (String line = line(in); !line.isEmpty(); line = line(in)) {
        int colon = line.indexOf(':');
        headers.put(
            line.substring(0, colon).toLowerCase(Locale.ROOT), line.substring(colon + 1).strip());
      }
      boolean streamed = false;
      if (headers.containsKey("transfer-encoding")) {
        for (int size = size(in); size > 0; size = size(in)) {
          streamed |= mentionsStream(in.readNBytes(size));
          line(in);
        }
        line(in);
      } else {
        streamed =
            mentionsStream(
                in.readNBytes(Integer.parseInt(headers.getOrDefault("content-length", "0"))));
      }
      return new Request(first[0], first[1], headers, streamed);
    }

    private static int size(InputStream in) throws IOException {
      return Integer.parseInt(line(in), 16);
    }

    private static boolean mentionsStream(byte[] body) {
      String begin = new String(body, 0, Math.min(body.length, 200), ISO_8859_1);
      return begin.contains("\"stream\":true");
    }

    private static String line(InputStream in) throws IOException {
      StringBuilder line = new StringBuilder();
      for (int c = in.read(); c != '\n'; c = in.read()) {
        if (c < 0) {
          throw new EOFException();
        }
        if (c != '\r') {
          line.append((char) c);
        }
      }
      return line.toString();
    }
  }
}
