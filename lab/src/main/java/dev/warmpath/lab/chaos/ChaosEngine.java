package dev.warmpath.lab.chaos;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.warmpath.simulator.live.LiveEngine;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A simulated engine behind a port that fails on command.
 *
 * <p>Thread-safe; one thread begins and heals faults.
 */
final class ChaosEngine implements AutoCloseable {

  private static final int RESTARTS = 100;
  private static final long PAUSE_MILLIS = 50;

  private final String name;
  private final LiveEngine engine;
  private final FaultyPort port;
  private volatile @Nullable EngineFault fault;

  /**
   * @param engine stays the caller's to close
   */
  ChaosEngine(String name, LiveEngine engine) {
    this.name = name;
    this.engine = engine;
    this.port = new FaultyPort(engine.ports().http());
  }

  String name() {
    return name;
  }

  /** Where the router reaches it. */
  String url() {
    return "http://127.0.0.1:" + port.port();
  }

  /** The engine itself, past the port. */
  LiveEngine engine() {
    return engine;
  }

  /** How it fails now; null if it does not. */
  @Nullable EngineFault fault() {
    return fault;
  }

  void begin(EngineFault next) {
    fault = next;
    port.begin(next);
    if (next == EngineFault.KILLED) {
      engine.kill();
    }
  }

  void heal() throws InterruptedException {
    if (fault == EngineFault.KILLED) {
      restart();
    }
    port.heal();
    fault = null;
  }

  /** While it was dead, the kernel may have lent one of its ports to an outgoing connection. */
  private void restart() throws InterruptedException {
    for (int attempt = 1; ; attempt++) {
      try {
        engine.restart();
        return;
      } catch (IllegalStateException e) {
        if (attempt == RESTARTS) {
          throw e;
        }
        TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
      }
    }
  }

  @Override
  public void close() {
    port.close();
  }

  /**
   * A TCP port in front of one engine that passes bytes on both ways, or does what a fault says.
   *
   * <p>Thread-safe.
   */
  private static final class FaultyPort implements AutoCloseable {

    private static final int BACKLOG = 512;
    private static final int BIND_ATTEMPTS = 100;
    private static final long BIND_PAUSE_MILLIS = 50;

    private final int enginePort;
    private final ExecutorService threads =
        Executors.newCachedThreadPool(work -> {
          Thread thread = new Thread(work, "chaos-port");
          thread.setDaemon(true);
          return thread;
        });
    private final Set<Link> links = ConcurrentHashMap.newKeySet();
    private final AtomicInteger pieces = new AtomicInteger();
    private final int port;
    private ServerSocket listening;
    private @Nullable EngineFault fault;
    private boolean closed;

    /** Listens on any port of the loopback interface. */
    FaultyPort(int enginePort) {
      this.enginePort = enginePort;
      listening = listen(0);
      port = listening.getLocalPort();
      accept(listening);
    }

    int port() {
      return port;
    }

    /** Misbehaves from now on. */
    synchronized void begin(EngineFault next) {
      fault = next;
      notifyAll();
      if (next == EngineFault.KILLED) {
        stop();
      }
    }

    /** Passes bytes on again; what a hung connection held goes on. */
    synchronized void heal() {
      if (listening.isClosed()) {
        listening = listen(port);
        accept(listening);
      }
      fault = null;
      notifyAll();
    }

    @Override
    public synchronized void close() {
      closed = true;
      notifyAll();
      stop();
      threads.shutdownNow();
    }

    /** The fault now; waits for the end of one that lets nothing through. */
    synchronized @Nullable EngineFault awaitFlow() throws InterruptedException {
      while (fault == EngineFault.HUNG && !closed) {
        wait();
      }
      return fault;
    }

    /** Counts the pieces of responses, so that faults can pick some. */
    int nextPiece() {
      return pieces.incrementAndGet();
    }

    void ended(Link link) {
      links.remove(link);
    }

    private void stop() {
      try {
        listening.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      links.forEach(Link::reset);
    }

    private void accept(ServerSocket from) {
      threads.execute(() -> {
        try {
          while (true) {
            open(from.accept());
          }
        } catch (IOException e) {
          // closed: nobody is accepted any more
        }
      });
    }

    private void open(Socket router) throws IOException {
      try {
        Link link =
            new Link(this, router, new Socket(InetAddress.getLoopbackAddress(), enginePort));
        synchronized (this) {
          links.add(link);
          threads.execute(link::passRequests);
          threads.execute(link::passResponses);
        }
      } catch (IOException e) {
        router.close(); // the engine is just being killed
      }
    }

    /** While the port was closed, the kernel may have lent it to an outgoing connection. */
    private static ServerSocket listen(int port) {
      for (int attempt = 1; ; attempt++) {
        try {
          ServerSocket socket = new ServerSocket();
          socket.setReuseAddress(true);
          socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), BACKLOG);
          return socket;
        } catch (IOException e) {
          if (attempt == BIND_ATTEMPTS) {
            throw new UncheckedIOException("port " + port, e);
          }
          pause();
        }
      }
    }

    private static void pause() {
      try {
        TimeUnit.MILLISECONDS.sleep(BIND_PAUSE_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    /**
     * One connection through a {@link FaultyPort}: a thread for each direction.
     *
     * <p>Thread-safe.
     */
    static final class Link {

      private static final int PIECE_BYTES = 16_384;
      private static final int PIECES_TO_A_BREAK = 7;
      private static final long SLOW_MILLIS = 60;
      private static final int DRAIN_MILLIS = 2_000;

      private final FaultyPort port;
      private final Socket router;
      private final Socket engine;
      private volatile boolean posts;
      private boolean betweenLines; // of the thread of responses

      Link(FaultyPort port, Socket router, Socket engine) throws IOException {
        this.port = port;
        this.router = router;
        this.engine = engine;
        router.setTcpNoDelay(true);
        engine.setTcpNoDelay(true);
      }

      /** Ends both sides as a crash does. */
      void reset() {
        linger(router);
        close();
      }

      void passRequests() {
        byte[] piece = new byte[PIECE_BYTES];
        try {
          InputStream from = router.getInputStream();
          OutputStream to = engine.getOutputStream();
          for (int n = from.read(piece); n >= 0; n = from.read(piece)) {
            EngineFault fault = port.awaitFlow();
            posts |= new String(piece, 0, Math.min(n, 5), ISO_8859_1).equals("POST ");
            if (posts && fault != null && fault.answer().length > 0) {
              answer(fault.answer());
              return;
            }
            to.write(piece, 0, n);
          }
        } catch (IOException e) {
          // one side is gone: so is the other
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        } finally {
          close();
        }
      }

      void passResponses() {
        byte[] piece = new byte[PIECE_BYTES];
        try {
          InputStream from = engine.getInputStream();
          int n = from.read(piece);
          while (n >= 0 && pass(piece, n, port.awaitFlow())) {
            n = from.read(piece);
          }
        } catch (IOException e) {
          // one side is gone: so is the other
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        } finally {
          close();
        }
      }

      /** Passes a piece of a response on; false if that was the last. */
      private boolean pass(byte[] piece, int bytes, @Nullable EngineFault fault)
          throws IOException, InterruptedException {
        OutputStream to = router.getOutputStream();
        if (posts && fault == EngineFault.SLOW) {
          TimeUnit.MILLISECONDS.sleep(SLOW_MILLIS);
        } else if (posts && fault == EngineFault.NOT_HTTP && betweenLines) {
          to.write(fault.answer());
          return false;
        } else if (posts && (fault == EngineFault.RESET || fault == EngineFault.CLOSED)) {
          int number = port.nextPiece();
          if (number % PIECES_TO_A_BREAK == 0) {
            to.write(piece, 0, number % 2 == 0 ? bytes : bytes / 2);
            breakOff(fault);
            return false;
          }
        }
        to.write(piece, 0, bytes);
        betweenLines = piece[bytes - 1] == '\n';
        return true;
      }

      private void breakOff(EngineFault fault) {
        if (fault == EngineFault.RESET) {
          linger(router);
        }
      }

      /** Answers and closes; what still comes is thrown away, or it would become a reset. */
      private void answer(byte[] bytes) throws IOException {
        router.getOutputStream().write(bytes);
        router.shutdownOutput();
        router.setSoTimeout(DRAIN_MILLIS);
        InputStream rest = router.getInputStream();
        byte[] thrownAway = new byte[PIECE_BYTES];
        while (rest.read(thrownAway) >= 0) {
          // until the router closes too
        }
      }

      private static void linger(Socket socket) {
        try {
          socket.setSoLinger(true, 0);
        } catch (SocketException e) {
          // closed before: nothing to reset
        }
      }

      private void close() {
        port.ended(this);
        for (Socket socket : new Socket[] {router, engine}) {
          try {
            socket.close();
          } catch (IOException e) {
            // it is closed all the same
          }
        }
      }
    }
  }

  /** How an engine fails. Health checks fail too under {@link #KILLED} and {@link #HUNG} only. */
  enum EngineFault {
    /** Connections are refused, those that are open are reset, events end; then a new lifetime. */
    KILLED,
    /** Connections are accepted and nothing moves on them. */
    HUNG,
    /** Each piece of a response comes late. */
    SLOW,
    /** Bytes that are no HTTP, as a response or between two chunks of one. */
    NOT_HTTP("Chaos is no protocol.\r\n\r\n"),
    /** Status 200 with a body that is no JSON and no event stream. */
    NOT_JSON(response("200 OK", "", EngineFault.RUBBISH)),
    /** Status 500 with an error. */
    FAILING(response("500 Internal Server Error", "", error("chaos_failing"))),
    /** Status 503 with an error and a time to wait. */
    BUSY(response("503 Service Unavailable", "retry-after: 1\r\n", error("chaos_busy"))),
    /** Responses end with a reset of the connection, within or after a piece. */
    RESET,
    /** Responses end with an orderly close of the connection, within or after a piece. */
    CLOSED;

    /** The body of {@link #NOT_JSON}. */
    static final String RUBBISH = "<html>This is neither JSON nor an event stream.</html>";

    private final String answer;

    EngineFault() {
      this("");
    }

    EngineFault(String answer) {
      this.answer = answer;
    }

    /** What it answers to every request instead of the engine; empty if the engine is asked. */
    byte[] answer() {
      return answer.getBytes(UTF_8);
    }

    private static String response(String status, String headers, String body) {
      return "HTTP/1.1 "
          + status
          + "\r\ncontent-type: application/json\r\n"
          + headers
          + "connection: close\r\ncontent-length: "
          + body.length()
          + "\r\n\r\n"
          + body;
    }

    private static String error(String code) {
      return "{\"error\":{\"message\":\"Chaos.\",\"type\":\"chaos\",\"param\":null,\"code\":\""
          + code
          + "\"}}";
    }
  }
}
