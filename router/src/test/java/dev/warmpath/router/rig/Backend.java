package dev.warmpath.router.rig;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.ServerWebSocket;
import io.vertx.core.net.impl.ConnectionBase;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** A replica that does what its script says and remembers what it was sent. */
public final class Backend implements AutoCloseable {

  /** What it does with a completions request whose body has come. */
  public interface Script {
    void answer(HttpServerRequest request, Buffer body);
  }

  private final Vertx vertx;
  private final HttpServer server;
  private final int port;
  public final List<Buffer> bodies = new CopyOnWriteArrayList<>();
  public final List<String> uris = new CopyOnWriteArrayList<>();
  public final List<Map<String, String>> headers = new CopyOnWriteArrayList<>();

  /** The {@code Authorization} headers that came with each path; an empty one for none. */
  public final Map<String, Set<String>> authorizations = new ConcurrentHashMap<>();

  public final AtomicInteger resets = new AtomicInteger();
  public volatile Script script = (request, body) -> request.response().end("{}");
  public volatile String models = "{\"object\":\"list\",\"data\":[{\"id\":\"m\",\"root\":\"m\"}]}";
  public volatile String metrics = "process_start_time_seconds 1.7e9\n";
  public volatile int health = 200;

  /** What {@code /kv_event_sources} answers; null for 404. */
  public volatile String eventSources;

  /** Leaves health checks without an answer. */
  public volatile boolean healthHangs;

  public final AtomicInteger healthChecks = new AtomicInteger();
  public final AtomicInteger metricsReads = new AtomicInteger();

  /** Does something with the head of a completions request, whose body is not read then. */
  public volatile Consumer<HttpServerRequest> onHead;

  /** Bytes that go before each answer. */
  public volatile String before = "";

  /** Accepts WebSockets if it is there. */
  public volatile Consumer<ServerWebSocket> onWebSocket;

  public Backend(Vertx vertx) {
    this(vertx, 0);
  }

  public Backend(Vertx vertx, int port) {
    this.vertx = vertx;
    this.server =
        vertx
            .createHttpServer(new HttpServerOptions().setMaxWebSocketFrameSize(1 << 20))
            .requestHandler(this::serve);
    try {
      this.port =
          server
              .listen(port, "127.0.0.1")
              .toCompletionStage()
              .toCompletableFuture()
              .get(Rig.PATIENCE.toSeconds(), TimeUnit.SECONDS)
              .actualPort();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  public int port() {
    return port;
  }

  public String url() {
    return "http://127.0.0.1:" + port;
  }

  private void serve(HttpServerRequest request) {
    authorizations
        .computeIfAbsent(request.path(), path -> ConcurrentHashMap.newKeySet())
        .add(Objects.requireNonNullElse(request.getHeader("authorization"), ""));
    if (onWebSocket != null && request.headers().contains("sec-websocket-key")) {
      request.toWebSocket().onSuccess(onWebSocket::accept);
      return;
    }
    raw(request, before);
    switch (request.path()) {
      case "/health" -> {
        healthChecks.incrementAndGet();
        if (!healthHangs) {
          request.response().setStatusCode(health).end();
        }
      }
      case "/v1/models" -> request.response().end(models);
      case "/metrics" -> {
        metricsReads.incrementAndGet();
        request.response().end(metrics);
      }
      case "/kv_event_sources" -> {
        String told = eventSources;
        request.response().setStatusCode(told == null ? 404 : 200).end(told == null ? "" : told);
      }
      default -> {
        Map<String, String> seen = new ConcurrentHashMap<>();
        request.headers().forEach((k, v) -> seen.put(k.toLowerCase(java.util.Locale.ROOT), v));
        headers.add(seen);
        uris.add(request.uri());
        HttpServerResponse response = request.response();
        response.closeHandler(v -> {
          if (!response.ended()) {
            resets.incrementAndGet();
          }
        });
        if (onHead != null) {
          onHead.accept(request);
          return;
        }
        request
            .body()
            .onSuccess(body -> {
              bodies.add(body);
              script.answer(request, body);
            });
      }
    }
  }

  /** Writes bytes as they are, in place of a response or before it. */
  public static void raw(HttpServerRequest request, String bytes) {
    if (!bytes.isEmpty()) {
      Channel channel = ((ConnectionBase) request.connection()).channel();
      ByteBuf written = Unpooled.copiedBuffer(bytes, StandardCharsets.ISO_8859_1);
      channel.pipeline().firstContext().writeAndFlush(written);
    }
  }

  /** Sends the parts as one chunk each, with a breath between them. */
  public void stream(HttpServerRequest request, List<Buffer> parts) {
    HttpServerResponse response = request.response().setChunked(true);
    response.putHeader("content-type", "text/event-stream; charset=utf-8");
    next(response, parts, 0);
  }

  private void next(HttpServerResponse response, List<Buffer> parts, int at) {
    if (at == parts.size()) {
      response.end();
      return;
    }
    response.write(parts.get(at));
    vertx.setTimer(1, id -> next(response, parts, at + 1));
  }

  @Override
  public void close() {
    try {
      server
          .close()
          .toCompletionStage()
          .toCompletableFuture()
          .get(Rig.PATIENCE.toSeconds(), TimeUnit.SECONDS);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
