package dev.warmpath.lab.bench;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayDeque;
import java.util.Queue;

/**
 * Ports for servers in processes of their own, which are told where to listen.
 *
 * <p>Thread-safe.
 */
public final class LoopbackPorts {

  /** As long as that many are not asked for meanwhile, a port is kept. */
  private static final int MOST_KEPT = 256;

  private static final Queue<Socket> KEPT = new ArrayDeque<>();

  private LoopbackPorts() {}

  /**
   * A port of the loopback interface on which nobody listens. The system gives it to nobody else; a
   * server that asks for it by its number, with {@code SO_REUSEADDR} as all do, gets it.
   *
   * @throws IOException if there is none
   */
  public static int free() throws IOException {
    return bound(0).getLocalPort();
  }

  /**
   * Keeps a port as {@link #free} does.
   *
   * @return whether it is one, and nobody else had it
   */
  public static boolean keep(int port) {
    try {
      return bound(port).isBound();
    } catch (IOException | IllegalArgumentException e) {
      return false;
    }
  }

  private static Socket bound(int port) throws IOException {
    InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    Socket socket = new Socket();
    try {
      socket.setReuseAddress(false); // else it would share the port of another one that is kept
      socket.bind(address);
      socket.setReuseAddress(true);
    } catch (IOException e) {
      socket.close();
      throw e;
    }
    synchronized (KEPT) {
      KEPT.add(socket);
      if (KEPT.size() > MOST_KEPT) {
        KEPT.remove().close();
      }
    }
    return socket;
  }
}
