package dev.warmpath.router.picker;

import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.fleet.Fleet;
import dev.warmpath.router.metrics.Counters;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.MetricValues;
import dev.warmpath.router.picker.Wire.MalformedException;
import dev.warmpath.router.picker.Wire.Reader;
import dev.warmpath.router.picker.Wire.Writer;
import dev.warmpath.router.prompt.LoopBudget;
import dev.warmpath.router.proxy.BodyRoom;
import dev.warmpath.router.proxy.ClientConnections;
import dev.warmpath.router.proxy.Lifecycle;
import dev.warmpath.router.proxy.ProxyContext;
import dev.warmpath.router.proxy.RequestIds;
import dev.warmpath.router.proxy.RoutedRequest;
import dev.warmpath.router.security.ServerTls;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.Http2Settings;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
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
  private final ClientConnections connections;
  private final PickerMetrics metrics;
  private final @Nullable ServerTls tls;
  private final Set<Picking> open = new LinkedHashSet<>();
  private final Set<HealthWatch> watches = new LinkedHashSet<>();
  private Picking.@Nullable Shared shared;

  /**
   * An event loop that is not running yet.
   *
   * @param connections those of the gateways
   * @param tls null for clear text
   */
  public PickerVerticle(
      ProxyContext proxy,
      Fleet fleet,
      ClientConnections connections,
      PickerMetrics metrics,
      @Nullable ServerTls tls) {
    this.tls = tls;
    this.proxy = proxy;
    this.fleet = fleet;
    this.connections = connections;
    this.metrics = metrics;
  }

  @Override
  public Future<?> start() {
    Endpoints endpoints = new Endpoints(fleet, proxy.upstreams(), vertx);
    shared =
        new Picking.Shared(
            proxy,
            connections,
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
    if (proxy.admission().lifecycle().stage() == Lifecycle.Stage.CLOSING) {
      // not earlier: each request would come on a connection of its own, and stay on it
      connections.leave(vertx, request, proxy.config().timeouts().totalMs());
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

  /**
   * Tells tools such as {@code grpcurl} which services there are and what their messages hold:
   * {@code grpc.reflection.v1}, and {@code v1alpha}, which has the same messages.
   *
   * <p>Confined to its event loop.
   */
  private static final class Reflection implements GrpcCall.Listener {

    private static final Set<String> PATHS =
        Set.of(
            "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
            "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo");

    private static final int LONGEST_BYTES = 1 << 12;
    private static final int NOT_FOUND = 5;
    private static final int UNIMPLEMENTED = 12;

    /*
     * Of a request (ServerReflectionRequest) and its answer (ServerReflectionResponse). Extensions
     * are not told of: none of the services has any.
     */
    private static final int FILE_BY_NAME = 3;
    private static final int FILE_OF_SYMBOL = 4;
    private static final int LIST_SERVICES = 7;
    private static final int ORIGINAL_REQUEST = 2;
    private static final int FILES = 4;
    private static final int SERVICES = 6;
    private static final int ERROR = 7;

    private final GrpcCall call;

    Reflection(HttpServerRequest request, BodyRoom room) {
      call = new GrpcCall(request, LONGEST_BYTES, room, this);
    }

    static boolean isAt(String path) {
      return PATHS.contains(path);
    }

    void begin() {
      call.begin();
    }

    @Override
    public void message(byte[] message) throws MalformedException {
      int asked = 0;
      String name = "";
      Reader fields = new Reader(message);
      while (fields.next()) { // what is asked is a oneof: the last one counts
        int field = fields.field();
        if (field >= FILE_BY_NAME && field <= LIST_SERVICES) {
          asked = field;
          boolean isNamed = field == FILE_BY_NAME || field == FILE_OF_SYMBOL;
          name = isNamed ? fields.text() : "";
        }
      }
      Writer answer = new Writer().bytes(ORIGINAL_REQUEST, message);
      switch (asked) {
        case FILE_BY_NAME -> file(Files.ALL.byName.get(name), answer);
        case FILE_OF_SYMBOL -> file(Files.ALL.bySymbol.get(name), answer);
        case LIST_SERVICES -> {
          Writer list = new Writer();
          Files.ALL.services.forEach(service -> list.message(1, new Writer().text(1, service)));
          answer.message(SERVICES, list);
        }
        default -> answer.message(ERROR, error(UNIMPLEMENTED, "there are no extensions"));
      }
      call.send(answer.written());
      if (call.isFull()) {
        call.awaitRoom();
      }
    }

    private static void file(byte @Nullable [] file, Writer answer) {
      if (file == null) {
        answer.message(ERROR, error(NOT_FOUND, "there is no such file or symbol"));
      } else {
        answer.message(FILES, new Writer().bytes(1, file));
      }
    }

    private static Writer error(int code, String text) {
      return new Writer().number(1, code).text(2, text);
    }

    @Override
    public void halfClosed() {
      call.close(GrpcCall.Status.OK, "");
    }

    @Override
    public void gone() {}

    /** The published files that describe the services, as {@code FileDescriptorProto}. */
    private static final class Files {
      static final Files ALL = new Files();

      private static final int PACKAGE = 2;
      private static final int MESSAGE = 4;
      private static final int ENUM = 5;
      private static final int SERVICE = 6;

      /** Of a message that is described. */
      private static final int INNER_MESSAGE = 3;

      private static final int INNER_ENUM = 4;

      final Map<String, byte[]> byName = new HashMap<>();
      final Map<String, byte[]> bySymbol = new HashMap<>();
      final List<String> services = new ArrayList<>();

      private Files() {
        try (InputStream set = Reflection.class.getResourceAsStream("services.protoset")) {
          Reader files = new Reader(Objects.requireNonNull(set).readAllBytes());
          while (files.next()) {
            add(files.bytes());
          }
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        } catch (MalformedException e) {
          throw new IllegalStateException("services.protoset", e);
        }
      }

      private void add(byte[] file) throws MalformedException {
        String prefix = "";
        Reader fields = new Reader(file);
        while (fields.next()) {
          switch (fields.field()) {
            case 1 -> byName.put(fields.text(), file);
            case PACKAGE -> prefix = fields.text() + ".";
            case MESSAGE -> addMessage(prefix, fields.message(), fields.message(), file);
            case ENUM -> bySymbol.put(prefix + name(fields.message()), file);
            case SERVICE -> {
              String service = prefix + name(fields.message());
              services.add(service);
              bySymbol.put(service, file);
              Reader methods = fields.message();
              while (methods.next()) {
                if (methods.field() == 2) {
                  bySymbol.put(service + "." + name(methods.message()), file);
                }
              }
            }
            default -> {}
          }
        }
      }

      /** With those inside. */
      private void addMessage(String prefix, Reader named, Reader fields, byte[] file)
          throws MalformedException {
        String message = prefix + name(named);
        bySymbol.put(message, file);
        while (fields.next()) {
          switch (fields.field()) {
            case INNER_MESSAGE ->
                addMessage(message + ".", fields.message(), fields.message(), file);
            case INNER_ENUM -> bySymbol.put(message + "." + name(fields.message()), file);
            default -> {}
          }
        }
      }

      private static String name(Reader described) throws MalformedException {
        while (described.next()) {
          if (described.field() == 1) {
            return described.text();
          }
        }
        throw new MalformedException("it has no name");
      }
    }
  }

  /**
   * What is counted of requests that a gateway asks for.
   *
   * <p>Thread-safe.
   */
  public static final class PickerMetrics {

    /** What became of a request. */
    enum Pick {
      /** It has an endpoint. */
      PICKED,
      /** It was answered at once. */
      REFUSED,
      /** Its client left before. */
      LEFT,
      /** Another endpoint than the first has answered it; counted beside its pick. */
      MOVED
    }

    private final AtomicInteger streams = new AtomicInteger();
    private final Counters<Pick> picks;
    private final Counters<String> immediate;
    private final Counters<String> errors;

    public PickerMetrics(MeterRegistry registry) {
      this.picks =
          new Counters<>(pick ->
              Metric.PICKER_PICKS_TOTAL.counter(registry, pick.name().toLowerCase(Locale.ROOT)));
      this.immediate =
          new Counters<>(code -> Metric.PICKER_IMMEDIATE_RESPONSES_TOTAL.counter(registry, code));
      this.errors =
          new Counters<>(reason -> Metric.PICKER_PROTOCOL_ERRORS_TOTAL.counter(registry, reason));
    }

    void opened() {
      streams.incrementAndGet();
    }

    void closed() {
      streams.decrementAndGet();
    }

    void count(Pick pick) {
      picks.of(pick).increment();
    }

    void countImmediate(String code) {
      immediate.of(code).increment();
    }

    void countError(String reason) {
      errors.of(reason).increment();
    }

    /** How many streams are open, for a scrape. */
    public void collect(MetricValues to) {
      to.add(Metric.PICKER_STREAMS, streams.get());
    }
  }
}
