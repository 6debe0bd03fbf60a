package dev.warmpath.lab.chaos;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.TimeUnit;

/**
 * Connections to the router, and those of them that wait for another request.
 *
 * <p>Thread-safe.
 */
final class Connections implements AutoCloseable {

  private static final int SMALL_BUFFER_BYTES = 4_096;
  private static final int READ_BYTES = 1_024;
  private static final long MOST_IDLE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final int port;
  private final int silenceMillis;
  private final ConcurrentLinkedDeque<Connection> idle = new ConcurrentLinkedDeque<>();

  /** One connection; {@code sinceNanos} is when it was opened or kept. */
  record Connection(Socket socket, InputStream in, long sinceNanos) {

    /** Closes it, or resets it. */
    void end(boolean reset) {
      try (Socket closing = socket) {
        if (reset) {
          closing.setSoLinger(true, 0);
        }
      } catch (IOException e) {
        // it is closed all the same
      }
    }
  }

  /**
   * @param port of the router, on the loopback interface
   * @param silenceMillis after which connecting or reading times out
   */
  Connections(int port, int silenceMillis) {
    this.port = port;
    this.silenceMillis = silenceMillis;
  }

  /** Keeps a connection for another request. */
  void keep(Connection connection) {
    idle.push(new Connection(connection.socket, connection.in, System.nanoTime()));
  }

  /** Closes those that are kept. */
  @Override
  public void close() {
    idle.forEach(connection -> connection.end(false));
    idle.clear();
  }

  /** One that was kept, or a new one. */
  Connection take() throws IOException {
    for (Connection kept = idle.poll(); kept != null; kept = idle.poll()) {
      if (System.nanoTime() - kept.sinceNanos < MOST_IDLE_NANOS) {
        return kept;
      }
      kept.end(false);
    }
    return open(false);
  }

  /** A new one; with a small buffer what is not read stays at the router. */
  Connection open(boolean smallBuffer) throws IOException {
    Socket socket = new Socket();
    if (smallBuffer) {
      socket.setReceiveBufferSize(SMALL_BUFFER_BYTES);
    }
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), silenceMillis);
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(silenceMillis);
    InputStream in = new BufferedInputStream(socket.getInputStream(), READ_BYTES);
    return new Connection(socket, in, System.nanoTime());
  }
}
