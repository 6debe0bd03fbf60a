package dev.warmpath.lab.chaos;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * The network between routers: a port before each, which passes bytes on unless a cut lies between
 * both ends. As in a real cut nobody is told: connections stay, new ones are taken, and what was
 * sent arrives when the cut is healed, if the connection is still there.
 *
 * <p>Who has opened a connection is read from its first bytes: a router of the mesh begins with the
 * address under which it is known, and that is one of these ports.
 *
 * <p>Thread-safe.
 */
final class Wires implements AutoCloseable {

  /** The number of a server that all routers use. */
  static final int SERVER = -1;

  private static final int BACKLOG = 64;
  private static final int PIECE_BYTES = 65_536;
  private static final int CONNECT_MILLIS = 2_000;
  private static final int HELLO_BYTES = 8; // cookie, version, and the address's length

  private final Map<Integer, Integer> routerOfPort = new ConcurrentHashMap<>();
  private final List<ServerSocket> ports = new CopyOnWriteArrayList<>();
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private Set<Integer> apart = Set.of();
  private boolean closed;

  /** A port that leads the other routers to the mesh's port of router {@code number}. */
  int beforeRouter(int number, int meshPort) throws IOException {
    int port = listen(meshPort, number, null);
    routerOfPort.put(port, number);
    return port;
  }

  /** A port by which router {@code number} reaches a server. */
  int beforeServer(int number, int serverPort) throws IOException {
    return listen(serverPort, SERVER, number);
  }

  /** Nothing passes any more between these routers and all others, and the server. */
  synchronized void cut(Set<Integer> routers) {
    apart = Set.copyOf(routers);
  }

  synchronized void heal() {
    apart = Set.of();
    notifyAll();
  }

  @Override
  public void close() {
    synchronized (this) {
      closed = true;
      notifyAll();
    }
    try {
      for (ServerSocket port : ports) {
        port.close();
      }
      for (Socket socket : open) {
        socket.close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private synchronized void awaitPassage(int from, int to) throws IOException {
    try {
      while (!closed && apart.contains(from) != apart.contains(to)) {
        wait();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (closed) {
      throw new IOException("closed");
    }
  }

  /**
   * @param from who opens the connections; null: they begin with it
   */
  private int listen(int targetPort, int to, @Nullable Integer from) throws IOException {
    ServerSocket port = new ServerSocket(0, BACKLOG, InetAddress.getLoopbackAddress());
    ports.add(port);
    start(() -> {
      while (true) {
        Socket socket = port.accept();
        open.add(socket);
        start(() -> connect(socket, targetPort, to, from));
      }
    });
    return port.getLocalPort();
  }

  private void connect(Socket socket, int targetPort, int to, @Nullable Integer known)
      throws IOException {
    try (socket;
        Socket target = new Socket()) {
      open.add(target);
      byte[] hello = known == null ? hello(socket.getInputStream()) : new byte[0];
      int from = known == null ? sender(hello) : known;
      awaitPassage(from, to);
      target.connect(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), targetPort), CONNECT_MILLIS);
      target.setTcpNoDelay(true);
      socket.setTcpNoDelay(true);
      target.getOutputStream().write(hello);
      start(() -> pass(target, socket, to, from));
      pass(socket, target, from, to);
    } finally {
      open.remove(socket);
    }
  }

  private void pass(Socket from, Socket to, int sender, int receiver) throws IOException {
    byte[] piece = new byte[PIECE_BYTES];
    InputStream in = from.getInputStream();
    OutputStream out = to.getOutputStream();
    try {
      for (int n = in.read(piece); n >= 0; n = in.read(piece)) {
        awaitPassage(sender, receiver);
        out.write(piece, 0, n);
      }
      awaitPassage(sender, receiver);
    } finally {
      from.close();
      to.close();
      open.remove(from);
      open.remove(to);
    }
  }

  private static byte[] hello(InputStream in) throws IOException {
    byte[] head = new byte[HELLO_BYTES];
    new DataInputStream(in).readFully(head);
    short length = ByteBuffer.wrap(head).getShort(HELLO_BYTES - Short.BYTES);
    byte[] hello = new byte[HELLO_BYTES + length];
    System.arraycopy(head, 0, hello, 0, HELLO_BYTES);
    new DataInputStream(in).readFully(hello, HELLO_BYTES, length);
    return hello;
  }

  private int sender(byte[] hello) throws IOException {
    int port = ByteBuffer.wrap(hello).getShort(hello.length - Short.BYTES) & 0xffff;
    Integer router = routerOfPort.get(port);
    if (router == null) {
      throw new IOException("a connection from port=" + port);
    }
    return router;
  }

  private interface Work {
    void run() throws IOException;
  }

  private static void start(Work work) {
    Thread thread =
        new Thread(
            () -> {
              try {
                work.run();
              } catch (IOException e) {
                // one end has left
              }
            },
            "wire");
    thread.setDaemon(true);
    thread.start();
  }
}
