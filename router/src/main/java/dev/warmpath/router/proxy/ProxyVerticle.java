package dev.warmpath.router.proxy;

import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.logs.Decision;
import dev.warmpath.router.proxy.ApiError.Form;
import dev.warmpath.router.security.ApiKeys;
import dev.warmpath.router.security.ClientAccount;
import dev.warmpath.router.security.Secrets;
import dev.warmpath.router.security.ServerTls;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.Http2Settings;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.WebSocketClient;
import io.vertx.core.http.WebSocketClientOptions;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One event loop of the proxy: a server socket, shared with the other loops, and its own
 * connections to the replicas. It answers the paths of {@link Routes} and no others.
 *
 * <p>Confined to its event loop; {@link #port()} may be asked by any thread once it is deployed.
 */
public final class ProxyVerticle extends VerticleBase {

  private static final Logger LOG = LoggerFactory.getLogger(ProxyVerticle.class);
  private static final int ANY_PORT_SHARED_BY_ALL_LOOPS = -1;
  private static final int REPLICA_KEEP_ALIVE_SECONDS = 4;
  private static final List<HttpVersion> HTTP_1_ONLY = List.of(HttpVersion.HTTP_1_1);
  private static final List<HttpVersion> BOTH_VERSIONS =
      List.of(HttpVersion.HTTP_2, HttpVersion.HTTP_1_1);

  /** What a client may send of one body, and of all on its connection, before it is read. */
  private static final int STREAM_WINDOW_BYTES = 1 << 18;

  private static final int CONNECTION_WINDOW_BYTES = 1 << 22;

  /** A client may take back so many requests for each that it may have at a time. */
  private static final int RESETS_A_STREAM = 4;

  private static final int RESET_WINDOW_SECONDS = 30;
  private static final String JSON = "application/json";

  private final ProxyContext proxy;
  private final String name;
  private volatile int port;
  private @Nullable HttpServer server;
  private @Nullable HttpClient upstream;
  private int connectionsPerReplica;
  private Exchange.@Nullable Loop loop;
  private long watching = -1;
  private final Set<Tunnel> tunnels = new HashSet<>();
  private @Nullable WebSocketClient webSockets;

  /**
   * An event loop that is not running yet.
   *
   * @param name tells its connections apart in metrics
   */
  public ProxyVerticle(ProxyContext proxy, String name) {
    this.proxy = proxy;
    this.name = name;
  }

  /** The port that clients connect to. */
  public int port() {
    return port;
  }

  @Override
  public Future<?> start() {
    upstream = newClient(proxy.config().limits().replicaRequests());
    loop = new Exchange.Loop(proxy, vertx, context, this::upstream, tickMs());
    webSockets = vertx.createWebSocketClient(webSocketOptions());
    ServerTls tls = proxy.admission().tls();
    HttpServerOptions options = serverOptions();
    server = vertx.createHttpServer(tls == null ? options : tls.on(options));
    server.requestHandler(this::serve).invalidRequestHandler(this::refuseUnreadable);
    server.connectionHandler(ClientConnections::begin);
    server.exceptionHandler(e -> LOG.debug("a client's connection failed", e));
    watching = connections().watch(vertx);
    return server
        .listen()
        .onSuccess(listening -> {
          port = listening.actualPort();
          if (tls != null) {
            tls.listening(listening);
          }
        });
  }

  /** Stops listening; waits for nothing. */
  @Override
  public Future<?> stop() {
    cutAll();
    vertx.cancelTimer(watching);
    Future<Void> closed = server == null ? Future.succeededFuture() : server.close();
    return closed
        .eventually(() -> webSockets == null ? Future.succeededFuture() : webSockets.close())
        .eventually(() -> upstream == null ? Future.succeededFuture() : upstream.close());
  }

  /** Cuts off every request that is still being served; may be called from any thread. */
  public void cut() {
    if (loop != null) {
      context.runOnContext(v -> cutAll());
    }
  }

  private void cutAll() {
    if (loop != null) {
      loop.cut();
    }
    new ArrayList<>(tunnels).forEach(Tunnel::cut);
  }

  /** A time limit may be noticed late by an eighth, and by a tenth of a second. */
  private long tickMs() {
    RouterConfig.Timeouts limits = proxy.config().timeouts();
    int keepAliveMs = limits.sseKeepAliveMs();
    int shortest =
        IntStream.of(
                keepAliveMs == 0 ? Integer.MAX_VALUE : keepAliveMs,
                limits.requestBodyMs(),
                limits.firstByteMs(),
                limits.streamIdleMs(),
                limits.totalMs(),
                proxy.config().queue().timeoutMs(),
                proxy.config().tokenizing().deadlineMs())
            .min()
            .orElseThrow();
    return Math.max(1, Math.min(shortest / 8, 100));
  }

  private HttpServerOptions serverOptions() {
    RouterConfig.Limits limits = proxy.config().limits();
    RouterConfig.Listen at = proxy.config().listen();
    HttpServerOptions options =
        new HttpServerOptions()
            .setHost(at.host())
            .setPort(at.port() == 0 ? ANY_PORT_SHARED_BY_ALL_LOOPS : at.port())
            .setMaxHeaderSize(limits.headerBytes())
            .setMaxInitialLineLength(limits.headerBytes())
            .setMaxWebSocketFrameSize(Tunnel.FRAME_BYTES)
            .setPerFrameWebSocketCompressionSupported(false)
            .setPerMessageWebSocketCompressionSupported(false)
            .setSslHandshakeTimeout(proxy.config().timeouts().requestHeadMs())
            .setSslHandshakeTimeoutUnit(TimeUnit.MILLISECONDS)
            .setTcpNoDelay(true);
    boolean http2 = at.http2();
    options.setHttp2ClearTextEnabled(http2).setAlpnVersions(http2 ? BOTH_VERSIONS : HTTP_1_ONLY);
    if (http2) {
      boundStreams(options, limits);
    }
    return options;
  }

  private static void boundStreams(HttpServerOptions options, RouterConfig.Limits limits) {
    options
        .setInitialSettings(
            new Http2Settings()
                .setMaxConcurrentStreams(limits.connectionStreams())
                .setMaxHeaderListSize(limits.headerBytes())
                .setInitialWindowSize(STREAM_WINDOW_BYTES))
        .setHttp2ConnectionWindowSize(CONNECTION_WINDOW_BYTES)
        .setHttp2RstFloodMaxRstFramePerWindow(RESETS_A_STREAM * limits.connectionStreams())
        .setHttp2RstFloodWindowDuration(RESET_WINDOW_SECONDS)
        .setHttp2RstFloodWindowDurationTimeUnit(TimeUnit.SECONDS);
  }

  /** Connections are given up before an engine's own server (5 s in uvicorn) gives them up. */
  private HttpClientOptions clientOptions() {
    return new HttpClientOptions()
        .setMetricsName(name)
        .setKeepAliveTimeout(REPLICA_KEEP_ALIVE_SECONDS)
        .setTcpNoDelay(true)
        .setDecompressionSupported(false)
        .setConnectTimeout(proxy.config().timeouts().connectMs());
  }

  /** The dispatcher bounds them. */
  private WebSocketClientOptions webSocketOptions() {
    return new WebSocketClientOptions()
        .setMetricsName(name + "-websocket")
        .setMaxConnections(Integer.MAX_VALUE)
        .setMaxFrameSize(Tunnel.FRAME_BYTES)
        .setTcpNoDelay(true)
        .setConnectTimeout(proxy.config().timeouts().connectMs());
  }

  /** The dispatcher bounds requests; each has a connection of its own. */
  private HttpClient newClient(int mostRequests) {
    connectionsPerReplica = mostRequests;
    PoolOptions pool =
        new PoolOptions().setHttp1MaxSize(mostRequests).setMaxWaitQueueSize(mostRequests);
    return proxy.upstreams().newConnections(clientOptions(), pool);
  }

  /** The connections to the replicas; others when a reload lets a replica have more than these. */
  private HttpClient upstream() {
    HttpClient known = Objects.requireNonNull(upstream);
    RouterConfig now = proxy.config();
    if (now.limits().replicaRequests() <= connectionsPerReplica) {
      return known;
    }
    HttpClient larger = newClient(now.limits().replicaRequests());
    upstream = larger;
    known
        .shutdown(now.timeouts().totalMs(), TimeUnit.MILLISECONDS)
        .onFailure(e -> LOG.warn("connections to replicas were not closed", e));
    return larger;
  }

  private ClientConnections connections() {
    return proxy.admission().connections();
  }

  private void serve(HttpServerRequest request) {
    if (!connections().began(request)) {
      return;
    }
    RequestHead head = RequestHead.of(request);
    if (head == null) {
      refuse(request, ApiError.badRequest());
      return;
    }
    if (RequestHead.endsConnection(request)) {
      request.response().putHeader("connection", "close");
      connections().endAfter(request);
    }
    List<String> origins = proxy.config().listen().cors();
    Cors.allow(origins, request);
    Route route = proxy.routes().find(head.path()).orElse(null);
    ApiKeys keys = proxy.admission().keys();
    if (route == null || !isServed(route)) {
      decline(request, Form.OPENAI, ApiError.notFound("There is no such path here."));
    } else if (route.computes() && Tunnel.isAskedFor(request) && !route.equals(Routes.REALTIME)) {
      upgrade(request, "HTTP/1.1");
      decline(request, Form.of(route), ApiError.postRequired());
    } else if (Cors.isPreflight(origins, request)) {
      Cors.answerPreflight(route.allowed(), request);
    } else if (!route.takes(request.method().name())) {
      request.response().putHeader("allow", route.allowed());
      decline(request, Form.of(route), ApiError.methodNotAllowed(route.allowed()));
    } else if (RequestHead.expectsOther(request)) {
      decline(request, Form.of(route), ApiError.expectationFailed());
    } else if (keys == null || !route.needsKey()) {
      serve(new Exchange.Arrival(route, request, head, null));
    } else {
      authenticate(route, request, head, keys);
    }
  }

  /** Names the protocol that has to be used instead, as RFC 9110 (15.5.22) asks for. */
  private static void upgrade(HttpServerRequest request, String protocol) {
    if (request.version() != HttpVersion.HTTP_2) {
      request.response().putHeader("upgrade", protocol).putHeader("connection", "upgrade");
    }
  }

  /** Ends the connection too, as what follows on it may be read in two ways. */
  private void refuse(HttpServerRequest request, ApiError error) {
    if (request.version() == HttpVersion.HTTP_2) {
      decline(request, Form.OPENAI, error);
      return;
    }
    request.response().putHeader("connection", "close");
    decline(request, Form.OPENAI, error);
    connections().end(request);
  }

  /** A head that HTTP/1.1 does not allow, or one that is too long. */
  private void refuseUnreadable(HttpServerRequest request) {
    Throwable cause = request.decoderResult().cause();
    RouterConfig.Limits limits = proxy.config().limits();
    if (connections().began(request)) {
      refuse(request, ApiError.unreadable(cause, limits.headerBytes()));
    }
  }

  private void authenticate(
      Route route, HttpServerRequest request, RequestHead head, ApiKeys keys) {
    String bearer = Secrets.bearer(request.getHeader("authorization"));
    ClientAccount client = keys.find(bearer == null ? request.getHeader("x-api-key") : bearer);
    if (client == null) {
      decline(request, Form.of(route), ApiError.unauthorized());
      return;
    }
    ClientAccount.Answer answer =
        route.page() == null
            ? client.request(proxy.nanoClock().getAsLong())
            : ClientAccount.Answer.ADMITTED;
    if (answer.isAdmitted()) {
      serve(new Exchange.Arrival(route, request, head, client));
    } else {
      decline(request, Form.of(route), ApiError.of(answer));
    }
  }

  private void serve(Exchange.Arrival arrival) {
    Route route = arrival.route();
    HttpServerRequest request = arrival.request();
    if (lifecycle().isLeaving()) {
      leave(request);
    }
    if (route.page() != null) {
      page(route.page(), request, arrival.client());
    } else if (route.equals(Routes.REALTIME) && !Tunnel.isAskedFor(request)) {
      upgrade(request, "websocket");
      decline(request, Form.OPENAI, ApiError.upgradeRequired());
    } else if (connections().isLate(request)) {
      decline(request, Form.of(route), ApiError.shuttingDown());
    } else if (proxy.admission().heap().isFull()) {
      decline(request, Form.of(route), ApiError.heapFull());
    } else if (!lifecycle().enter()) {
      decline(request, Form.of(route), ApiError.overloaded("it serves all the requests it may"));
    } else if (route.equals(Routes.REALTIME)) {
      tunnel(arrival);
    } else {
      proxy.retries().earn();
      Objects.requireNonNull(loop).serve(arrival);
    }
  }

  /** Has the client connect elsewhere for its next request; its streams may end in their time. */
  private void leave(HttpServerRequest request) {
    if (request.version() == HttpVersion.HTTP_2) {
      connections().leave(vertx, request, proxy.config().timeouts().totalMs());
    } else {
      request.response().putHeader("connection", "close");
    }
  }

  private boolean isServed(Route route) {
    return route.page() != Route.Page.METRICS || proxy.config().listen().metrics();
  }

  private Lifecycle lifecycle() {
    return proxy.admission().lifecycle();
  }

  private void decline(HttpServerRequest request, Form form, ApiError error) {
    proxy.metrics().countRejection(error.code());
    proxy.logs().accessed(Decision.declined(asked(request), error.status(), error.code()));
    UnreadBody.announce(request);
    error.send(request.response(), form);
    RouterConfig now = proxy.config();
    UnreadBody.discard(
        vertx,
        proxy.nanoClock(),
        request,
        now.timeouts().requestBodyMs(),
        now.limits().bodyBytes());
  }

  private Decision.Request asked(HttpServerRequest request) {
    String id = Objects.requireNonNull(loop).requestId(request);
    String path = Objects.requireNonNullElse(request.path(), "");
    return new Decision.Request(id, request.method().name(), path, null, null, null);
  }

  private void tunnel(Exchange.Arrival arrival) {
    Tunnel[] self = new Tunnel[1];
    Tunnel tunnel =
        new Tunnel(
            proxy,
            Objects.requireNonNull(loop),
            Objects.requireNonNull(webSockets),
            arrival,
            () -> {
              tunnels.remove(self[0]);
              lifecycle().leave();
            });
    self[0] = tunnel;
    tunnels.add(tunnel);
    tunnel.start();
  }

  private void page(Route.Page page, HttpServerRequest request, @Nullable ClientAccount client) {
    HttpServerResponse response = request.response();
    switch (page) {
      case MODELS -> models(response, client);
      case MODEL -> model(response, client, Routes.modelId(request.path()));
      case HEALTH, READY -> proxy.health().ready(response);
      case LIVE -> proxy.health().live(response);
      case METRICS -> metrics(response);
    }
  }

  private void models(HttpServerResponse response, @Nullable ClientAccount client) {
    String models = proxy.pages().models(shownTo(client));
    if (models == null) {
      ApiError.unavailable("no_replica", "No replica is up.").send(response, Form.OPENAI);
    } else {
      response.putHeader("content-type", JSON).end(models);
    }
  }

  /** One that the client may not use is not there. */
  private void model(
      HttpServerResponse response, @Nullable ClientAccount client, @Nullable String id) {
    String model = id == null ? null : proxy.pages().model(id, shownTo(client));
    if (model != null) {
      response.putHeader("content-type", JSON).end(model);
    } else if (proxy.pages().replicasUp() == 0) {
      ApiError.unavailable("no_replica", "No replica is up.").send(response, Form.OPENAI);
    } else {
      ApiError.unknownModel(id == null ? "" : id).send(response, Form.OPENAI);
    }
  }

  private static Predicate<String> shownTo(@Nullable ClientAccount client) {
    return model -> client == null || client.mayUse(model);
  }

  private void metrics(HttpServerResponse response) {
    context
        .executeBlocking(() -> proxy.pages().metrics(), false)
        .onSuccess(
            text -> response.putHeader("content-type", "text/plain; version=0.0.4").end(text))
        .onFailure(e -> response.setStatusCode(500).end());
  }

  /**
   * Tells browsers which pages may call the router, by the origins of {@code listen.cors}. Cookies
   * are never allowed: clients have keys, which pages send themselves.
   *
   * <p>Immutable.
   */
  private static final class Cors {

    private static final String ANY = "*";
    private static final String MAX_AGE_SECONDS = "600";
    private static final int LONGEST_LIST = 1_000;
    private static final Pattern NAMES = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~, \t-]+");
    private static final String EXPOSED =
        RequestIds.HEADER + ", retry-after, x-warmpath-replica, x-warmpath-cached-tokens";

    private Cors() {}

    /** Lets the page that asks read the response, if it may; errors too. */
    static void allow(List<String> origins, HttpServerRequest request) {
      if (origins.isEmpty()) {
        return;
      }
      HttpServerResponse response = request.response();
      if (!origins.contains(ANY)) {
        response.putHeader("vary", "origin");
      }
      String origin = request.getHeader("origin");
      if (origin != null && isAllowed(origins, origin)) {
        response
            .putHeader("access-control-allow-origin", origins.contains(ANY) ? ANY : origin)
            .putHeader("access-control-expose-headers", EXPOSED);
      }
    }

    private static boolean isAllowed(List<String> origins, String origin) {
      return origins.contains(ANY) || origins.stream().anyMatch(origin::equalsIgnoreCase);
    }

    /** Whether a browser asks on behalf of a page that may call, before the page's request. */
    static boolean isPreflight(List<String> origins, HttpServerRequest request) {
      String origin = request.getHeader("origin");
      return request.method().equals(HttpMethod.OPTIONS)
          && origin != null
          && request.headers().contains("access-control-request-method")
          && isAllowed(origins, origin);
    }

    /** Answers such a question: the page may use these methods, and the headers that it names. */
    static void answerPreflight(String methods, HttpServerRequest request) {
      HttpServerResponse response = request.response();
      response
          .putHeader("access-control-allow-methods", methods)
          .putHeader("access-control-max-age", MAX_AGE_SECONDS);
      String headers = request.getHeader("access-control-request-headers");
      if (isList(headers)) {
        response.putHeader("access-control-allow-headers", headers);
      }
      response.setStatusCode(204).end();
    }

    private static boolean isList(@Nullable String names) {
      return names != null && names.length() <= LONGEST_LIST && NAMES.matcher(names).matches();
    }
  }
}
