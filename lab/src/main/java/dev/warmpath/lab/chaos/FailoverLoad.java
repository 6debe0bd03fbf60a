package dev.warmpath.lab.chaos;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.simulator.demo.ChatWords;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Streamed chats through several routers, as a balancer gives them: in turns to those that say they
 * are ready, each over a connection of its own, and to another one only if no connection came about
 * and so nothing was sent. Once sent, an answer must come whole, unless its router is killed.
 *
 * <p>Thread-safe.
 */
final class FailoverLoad implements AutoCloseable {

  private static final int MOST_AT_ONCE = 400;
  private static final int CONNECT_MILLIS = 1_000;
  private static final int SILENT_MILLIS = 90_000; // beyond any stop
  private static final Duration READY_LIMIT = Duration.ofSeconds(1);
  private static final long READY_PAUSE_MILLIS = 250;
  private static final int TENANTS = 12;
  private static final int SYSTEM_CHARS = 1_200;
  private static final int USER_CHARS = 800;
  private static final String DONE = "data: [DONE]\n\n";

  /** A router as its clients know it. */
  static final class Target {
    private final String name;
    private final int port;
    private final AtomicInteger inFlight = new AtomicInteger();
    private final AtomicInteger lives = new AtomicInteger();
    private volatile boolean dying;
    private volatile boolean inRotation;
    private volatile boolean wasReady;

    Target(String name, int port) {
      this.name = name;
      this.port = port;
    }

    String name() {
      return name;
    }

    int port() {
      return port;
    }

    /** Requests that were sent to it and are not over. */
    int inFlight() {
      return inFlight.get();
    }

    /** It will be killed: what it has in flight will be lost. */
    void dies() {
      dying = true;
    }

    /** A new process is started in its place. */
    void starts() {
      wasReady = false;
      lives.incrementAndGet();
      dying = false;
    }

    boolean isInRotation() {
      return inRotation;
    }
  }

  private final String model;
  private final List<Target> targets;
  private final RoutersReport report;
  private final int answerTokens;
  private final Semaphore places = new Semaphore(MOST_AT_ONCE);
  private final AtomicInteger turn = new AtomicInteger();
  private final AtomicInteger number = new AtomicInteger();
  private final HttpClient http =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(READY_LIMIT)
          .build();
  private final ExecutorService threads =
      Executors.newCachedThreadPool(work -> {
        Thread thread = new Thread(work, "failover-load");
        thread.setDaemon(true);
        return thread;
      });
  private volatile boolean ended;
  private volatile boolean closed;

  /** Watches the readiness of all from now on. */
  FailoverLoad(String model, List<Target> targets, RoutersReport report, int answerTokens) {
    this.model = model;
    this.targets = List.copyOf(targets);
    this.report = report;
    this.answerTokens = answerTokens;
    targets.forEach(target -> threads.execute(() -> watch(target)));
  }

  /** So many requests with short answers, a few at once; back when all are over. */
  void fill(int requests, int atOnce) throws InterruptedException {
    Semaphore few = new Semaphore(atOnce);
    for (int i = 0; i < requests; i++) {
      few.acquire();
      start(1, few::release);
    }
    few.acquire(atOnce);
  }

  /** Begins requests at a rate, until {@link #end}. */
  void begin(double perSecond) {
    threads.execute(() -> {
      Random random = new Random(1);
      try {
        while (!ended) {
          start(answerTokens, () -> {});
          double seconds = -Math.log(1 - random.nextDouble()) / perSecond;
          TimeUnit.MICROSECONDS.sleep((long) (1e6 * seconds));
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    });
  }

  /** Begins no more; back when all are over. */
  void end() throws InterruptedException {
    ended = true;
    places.acquire(MOST_AT_ONCE); // each comes back: no read waits for ever
    places.release(MOST_AT_ONCE);
  }

  @Override
  public void close() {
    ended = true;
    closed = true;
    threads.shutdownNow();
  }

  private void start(int tokens, Runnable over) throws InterruptedException {
    places.acquire();
    String body = body(number.getAndIncrement(), tokens);
    threads.execute(() -> {
      try {
        ask(body);
      } finally {
        places.release();
        over.run();
      }
    });
  }

  private String body(int request, int tokens) {
    ObjectNode body = JsonNodeFactory.instance.objectNode();
    body.put("model", model).put("stream", true);
    body.put("max_tokens", tokens).put("min_tokens", tokens);
    String system = ChatWords.ofTenant(1, request % TENANTS).chars(SYSTEM_CHARS);
    String user = "Question " + request + ": " + ChatWords.ofUser(1, request).chars(USER_CHARS);
    body.withArray("messages").addObject().put("role", "system").put("content", system);
    body.withArray("messages").addObject().put("role", "user").put("content", user);
    return body.toString();
  }

  private void ask(String body) {
    for (int i = 0; i < 2 * targets.size(); i++) {
      Target to = next();
      int life = to.lives.get();
      try (Socket socket = connect(to)) {
        if (socket == null) {
          report.now().sentElsewhere();
          continue;
        }
        to.inFlight.incrementAndGet();
        HttpAnswer answer = exchange(socket, body);
        judge(to, to.dying || to.lives.get() != life, answer);
        to.inFlight.decrementAndGet();
      } catch (IOException e) {
        // closing a socket that is over
      }
      return;
    }
    report.now().fail("no router takes a connection");
  }

  private void judge(Target to, boolean killed, HttpAnswer answer) {
    boolean whole = answer.end() == HttpAnswer.End.WHOLE;
    if (whole && answer.status() == 200 && answer.body().endsWith(DONE)) {
      report.now().answered();
    } else if (killed && !whole) {
      report.now().lostWithRouter();
    } else if (!closed) {
      String body = answer.body();
      report
          .now()
          .fail(
              "a request through %s ended %s with %d: %s %s"
                  .formatted(
                      to.name,
                      answer.end(),
                      answer.status(),
                      answer.detail(),
                      body.substring(Math.max(0, body.length() - 200)).strip()));
    }
  }

  private Target next() {
    int first = turn.getAndIncrement();
    for (int i = 0; i < targets.size(); i++) {
      Target target = targets.get(Math.floorMod(first + i, targets.size()));
      if (target.inRotation) {
        return target;
      }
    }
    return targets.get(Math.floorMod(first, targets.size()));
  }

  /** Null if there is none, so that nothing was sent. */
  private static @Nullable Socket connect(Target to) {
    Socket socket = new Socket();
    try {
      socket.connect(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), to.port), CONNECT_MILLIS);
      return socket;
    } catch (IOException e) {
      to.inRotation = false;
      return null;
    }
  }

  private static HttpAnswer exchange(Socket socket, String body) {
    try {
      socket.setTcpNoDelay(true);
      socket.setSoTimeout(SILENT_MILLIS);
      byte[] bytes = body.getBytes(UTF_8);
      ByteArrayOutputStream request = new ByteArrayOutputStream(bytes.length + 200);
      request.writeBytes(
          """
          POST %s HTTP/1.1
          host: chaos
          content-type: application/json
          connection: close
          content-length: %d

          """
              .formatted(ChaosClient.PATH, bytes.length)
              .replace("\n", "\r\n")
              .getBytes(US_ASCII));
      request.writeBytes(bytes);
      socket.getOutputStream().write(request.toByteArray());
      return HttpAnswer.read(new BufferedInputStream(socket.getInputStream()));
    } catch (IOException e) {
      return new HttpAnswer(HttpAnswer.End.CUT, 0, Map.of(), "", String.valueOf(e.getMessage()));
    }
  }

  /** Takes a router out when it is silent or not ready; that it says so itself must not be. */
  private void watch(Target target) {
    HttpRequest ready =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + target.port + "/health/ready"))
            .timeout(READY_LIMIT)
            .build();
    try {
      while (!closed) {
        int life = target.lives.get();
        try {
          HttpResponse<String> answer = http.send(ready, BodyHandlers.ofString());
          boolean is = answer.statusCode() == 200;
          if (!is && target.wasReady && life == target.lives.get() && !closed) {
            report.now().fail(target.name + " is ready no more: " + answer.body());
          }
          target.inRotation = is;
          if (is && life == target.lives.get()) {
            target.wasReady = true;
          }
        } catch (IOException e) {
          target.inRotation = false;
        }
        TimeUnit.MILLISECONDS.sleep(READY_PAUSE_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
