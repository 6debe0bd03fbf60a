package dev.warmpath.router.picker;

import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.fleet.Fleet;
import dev.warmpath.router.picker.Wire.MalformedException;
import dev.warmpath.router.picker.Wire.Reader;
import dev.warmpath.router.picker.Wire.Writer;
import dev.warmpath.router.prompt.LoopBudget;
import dev.warmpath.router.proxy.ProxyContext;
import dev.warmpath.router.proxy.RequestIds;
import dev.warmpath.router.proxy.RoutedRequest;
import dev.warmpath.router.security.ServerTls;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.Http2Settings;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One event loop of the endpoint picker: a gRPC server on a socket that is shared with the other
 * loops. It answers {@code ext_proc}, {@code grpc.health.v1} and {@code grpc.reflection}.
 *
 * <p>Confined to its event loop.
 */
public final class PickerVerticle extends VerticleBase {

  private static final Logger LOG = LoggerFactory.getLogger(PickerVerticle.class);

  /** A time limit may be noticed so late. */
  private static final long TICK_MS = 100;

  /**
   * A gateway opens a stream for each request, thousands on one connection, before it knows a
   * limit; one that it must take back is lost.
   */
  private static final long STREAMS = Integer.MAX_VALUE;

  /** What a gateway may send of one request, and of all on a connection, before it is read. */
  private static final int STREAM_WINDOW_BYTES = 1 << 20;

  private static final int CONNECTION_WINDOW_BYTES = 1 << 24;
  private static final int FRAME_BYTES = 1 << 16;

  private final ProxyContext proxy;
  private final Fleet fleet;
  private final PickerMetrics metrics;
  private final @Nullable ServerTls tls;
  private final Set<Picking> open = new LinkedHashSet<>();
  private final Set<HealthWatch> watches = new LinkedHashSet<>();
  private Picking.@Nullable Shared shared;

  /**
   * An event loop that is not running yet.
   *
   * @param tls null for clear text
   */
  public PickerVerticle(
      ProxyContext proxy, Fleet fleet, PickerMetrics metrics, @Nullable ServerTls tls) {
    this.tls = tls;
    this.proxy = proxy;
    this.fleet = fleet;
    this.metrics = metrics;
  }

  @Override
  public Future<?> start() {
    Endpoints endpoints = new Endpoints(fleet, proxy.upstreams(), vertx);
    shared =
        new Picking.Shared(
            proxy,
            metrics,
            endpoints,
            new RequestIds(proxy.random()),
            new RoutedRequest.Loop(context, new LoopBudget(proxy.nanoClock())),
            open);
    endpoints.lookUp();
    vertx.setPeriodic(Endpoints.LOOK_UP_MS, id -> endpoints.lookUp());
    vertx.setPeriodic(TICK_MS, id -> tick());
    HttpServerOptions options = serverOptions();
    HttpServer server = vertx.createHttpServer(tls == null ? options : tls.on(options));
    server.requestHandler(this::serve);
    server.exceptionHandler(e -> LOG.debug("a gateway's connection failed", e));
    return server
        .listen()
        .onSuccess(listening -> {
          if (tls != null) {
            tls.listening(listening);
          }
        });
  }

  private HttpServerOptions serverOptions() {
    RouterConfig config = proxy.config();
    String host = config.picker().host();
    return new HttpServerOptions()
        .setHost(host == null ? config.listen().host() : host)
        .setPort(config.picker().port())
        .setHttp2ClearTextEnabled(true)
        .setAlpnVersions(List.of(HttpVersion.HTTP_2))
        .setTcpNoDelay(true)
        .setTcpKeepAlive(true)
        .setInitialSettings(
            new Http2Settings()
                .setMaxConcurrentStreams(STREAMS)
                .setInitialWindowSize(STREAM_WINDOW_BYTES)
                .setMaxFrameSize(FRAME_BYTES))
        .setHttp2ConnectionWindowSize(CONNECTION_WINDOW_BYTES)
        // Envoy resets every stream that is over
        .setHttp2RstFloodMaxRstFramePerWindow(Integer.MAX_VALUE)
        .setHttp2RstFloodWindowDuration(1)
        .setHttp2RstFloodWindowDurationTimeUnit(TimeUnit.SECONDS);
  }

  private void serve(HttpServerRequest request) {
    if (request.version() != HttpVersion.HTTP_2) {
      request.response().setStatusCode(505).end();
      return;
    }
    Picking.Shared with = shared;
    if (ExtProc.PROCESS.equals(request.path()) && with != null) {
      new Picking(with, request).begin();
    } else if (Reflection.isAt(request.path())) {
      new Reflection(request, proxy.admission().bodies()).begin();
    } else {
      new HealthWatch(request).begin();
    }
  }

  private void tick() {
    if (!open.isEmpty()) {
      proxy.dispatcher().freed();
      long now = proxy.nanoClock().getAsLong();
      List.copyOf(open).forEach(picking -> picking.look(now));
    }
    List.copyOf(watches).forEach(HealthWatch::tell);
  }

  /** Ends every request that is still open; may be called from any thread. */
  public void cut() {
    context.runOnContext(
        v -> new ArrayList<>(open).forEach(each -> each.cut(GrpcCall.Status.UNAVAILABLE)));
  }

  /** A question for {@code grpc.health.v1.Health}, answered once or on every change. */
  private final class HealthWatch implements GrpcCall.Listener {
    private static final String CHECK = "/grpc.health.v1.Health/Check";
    private static final String WATCH = "/grpc.health.v1.Health/Watch";
    private static final int LONGEST_BYTES = 1 << 10;
    private static final int UNKNOWN = 0;
    private static final int SERVING = 1;
    private static final int NOT_SERVING = 2;
    private static final int SERVICE_UNKNOWN = 3;

    private final boolean isKnown;
    private final boolean stays;
    private final GrpcCall call;
    private String service = "";
    private int told = UNKNOWN;

    HealthWatch(HttpServerRequest request) {
      stays = WATCH.equals(request.path());
      isKnown = stays || CHECK.equals(request.path());
      call = new GrpcCall(request, LONGEST_BYTES, proxy.admission().bodies(), this);
    }

    void begin() {
      call.begin();
      if (!isKnown) {
        call.close(GrpcCall.Status.UNIMPLEMENTED, "");
      }
    }

    @Override
    public void message(byte[] message) throws MalformedException {
      Reader fields = new Reader(message);
      while (fields.next()) {
        service = fields.field() == 1 ? fields.text() : service;
      }
      if (stays) {
        watches.add(this);
        tell();
      } else if (status() == SERVICE_UNKNOWN) {
        call.close(GrpcCall.Status.NOT_FOUND, "unknown service");
      } else {
        tell();
        call.close(GrpcCall.Status.OK, "");
      }
    }

    void tell() {
      int now = status();
      if (now != told) {
        told = now;
        call.send(new Writer().number(1, now).written());
      }
    }

    private int status() {
      return switch (service) {
        case "liveness" -> proxy.pages().indexing() ? SERVING : NOT_SERVING;
        case "", "readiness", ExtProc.SERVICE -> proxy.health().isReady() ? SERVING : NOT_SERVING;
        default -> SERVICE_UNKNOWN;
      };
    }

    @Override
    public void halfClosed() {
      if (!stays) {
        call.close(GrpcCall.Status.INVALID_ARGUMENT, "no message");
      }
    }

    @Override
    public void gone() {
      watches.remove(this);
    }
  }
}
