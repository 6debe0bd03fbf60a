package dev.warmpath.router.members;

import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.NetServer;
import io.vertx.core.net.NetSocket;
import io.vertx.core.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Passes connections on to a server, and cuts them when it is told to. Clients connect to it as to
 * the server, or as to a proxy, by CONNECT, if it has no server of its own.
 */
final class Relay implements AutoCloseable {

  private final Vertx vertx = Vertx.vertx();
  private final Set<NetSocket> clients = ConcurrentHashMap.newKeySet();
  private final NetServer server;
  private volatile boolean cut;

  /**
   * @param target null for a proxy
   */
  Relay(SocketAddress target) {
    server =
        vertx
            .createNetServer()
            .connectHandler(client -> accept(client, target))
            .listen(0, "127.0.0.1")
            .toCompletionStage()
            .toCompletableFuture()
            .join();
  }

  int port() {
    return server.actualPort();
  }

  /** Cuts all connections, and each new one, until {@link #mend}. */
  void cut() {
    cut = true;
    cutOnce();
  }

  /** Cuts the connections that there are. */
  void cutOnce() {
    clients.forEach(NetSocket::close);
  }

  void mend() {
    cut = false;
  }

  private void accept(NetSocket client, SocketAddress target) {
    if (cut) {
      client.close();
      return;
    }
    clients.add(client);
    client.closeHandler(closed -> clients.remove(client));
    if (target == null) {
      client.handler(head -> connect(client, address(head), true));
    } else {
      connect(client, target, false);
    }
  }

  private void connect(NetSocket client, SocketAddress target, boolean isProxy) {
    client.pause();
    vertx
        .createNetClient()
        .connect(target)
        .onFailure(problem -> client.close())
        .onSuccess(upstream -> {
          if (isProxy) {
            client.write("HTTP/1.1 200 OK\r\n\r\n");
          }
          client.pipeTo(upstream);
          upstream.pipeTo(client);
        });
  }

  private static SocketAddress address(Buffer head) {
    String[] words = head.toString(StandardCharsets.US_ASCII).split(" ", 3);
    int colon = words[1].lastIndexOf(':');
    return SocketAddress.inetSocketAddress(
        Integer.parseInt(words[1].substring(colon + 1)), words[1].substring(0, colon));
  }

  @Override
  public void close() {
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }
}
