package dev.warmpath.router.rig;

import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetServer;
import io.vertx.core.net.NetSocket;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** Gives each new connection to one of the targets that are ready, in turn, and then only pipes. */
public final class TcpBalancer implements AutoCloseable {

  private static final String HOST = "127.0.0.1";
  private static final long LOOK_MS = 20;

  private final NetServer server;
  private final NetClient client;
  private final HttpClient looks;
  private final List<Integer> targets = new CopyOnWriteArrayList<>();
  private final Map<Integer, Boolean> ready = new ConcurrentHashMap<>();
  private final AtomicInteger turn = new AtomicInteger();
  private final int port;
  private final Vertx vertx;
  private final long timer;

  public TcpBalancer(Vertx vertx) {
    this.vertx = vertx;
    client = vertx.createNetClient();
    looks = vertx.createHttpClient();
    server = vertx.createNetServer().connectHandler(this::connect);
    port = server.listen(0, HOST).toCompletionStage().toCompletableFuture().join().actualPort();
    timer = vertx.setPeriodic(LOOK_MS, id -> targets.forEach(this::look));
  }

  public int port() {
    return port;
  }

  /** Returns when the target gets connections. */
  public void add(int target) {
    targets.add(target);
    Rig.until(() -> ready.getOrDefault(target, false));
  }

  public void remove(int target) {
    targets.remove((Integer) target);
    ready.remove(target);
  }

  private void look(int target) {
    looks
        .request(HttpMethod.GET, target, HOST, "/health/ready")
        .compose(request -> request.send())
        .onComplete(answer ->
            ready.computeIfPresent(
                target, (t, was) -> answer.succeeded() && answer.result().statusCode() == 200));
    ready.putIfAbsent(target, false);
  }

  private void connect(NetSocket from) {
    from.pause();
    List<Integer> now = targets.stream().filter(t -> ready.getOrDefault(t, false)).toList();
    if (now.isEmpty()) {
      from.close();
      return;
    }
    int target = now.get(Math.floorMod(turn.getAndIncrement(), now.size()));
    client
        .connect(target, HOST)
        .onSuccess(to -> {
          pipe(from, to);
          pipe(to, from);
          from.resume();
        })
        .onFailure(e -> from.close());
  }

  private static void pipe(NetSocket from, NetSocket to) {
    from.handler((Buffer bytes) -> to.write(bytes));
    from.closeHandler(v -> to.close());
  }

  @Override
  public void close() {
    vertx.cancelTimer(timer);
    server.close();
  }
}
