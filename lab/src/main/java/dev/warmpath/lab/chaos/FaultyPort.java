package dev.warmpath.lab.chaos;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A TCP port in front of one engine that passes bytes on both ways, or does what a fault says.
 *
 * <p>Thread-safe.
 */
final class FaultyPort implements AutoCloseable {

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
      Link link = new Link(this, router, new Socket(InetAddress.getLoopbackAddress(), enginePort));
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
}
