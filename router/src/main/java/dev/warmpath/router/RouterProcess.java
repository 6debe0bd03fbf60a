package dev.warmpath.router;

import dev.warmpath.router.config.FileWatch;
import dev.warmpath.router.config.MemoryBudget;
import dev.warmpath.router.config.Reloader;
import dev.warmpath.router.config.Reloader.ReloadResult;
import dev.warmpath.router.config.Reloader.RunningConfig;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.console.AdminContext;
import dev.warmpath.router.console.AdminVerticle;
import dev.warmpath.router.console.Console;
import dev.warmpath.router.console.Totals;
import dev.warmpath.router.dispatch.Dispatcher;
import dev.warmpath.router.dispatch.EngineChain;
import dev.warmpath.router.dispatch.RoutingHints;
import dev.warmpath.router.fleet.Fleet;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.health.FleetWatch;
import dev.warmpath.router.health.HealthChecker;
import dev.warmpath.router.logs.RequestLogs;
import dev.warmpath.router.members.Membership;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.MetricValues;
import dev.warmpath.router.metrics.Metrics;
import dev.warmpath.router.picker.PickerVerticle;
import dev.warmpath.router.picker.PickerVerticle.PickerMetrics;
import dev.warmpath.router.picker.PoolMetrics;
import dev.warmpath.router.prompt.InferenceRules;
import dev.warmpath.router.proxy.AcceptTransport;
import dev.warmpath.router.proxy.BodyRoom;
import dev.warmpath.router.proxy.ClientConnections;
import dev.warmpath.router.proxy.HealthPage;
import dev.warmpath.router.proxy.HeapWatch;
import dev.warmpath.router.proxy.Lifecycle;
import dev.warmpath.router.proxy.ProxyContext;
import dev.warmpath.router.proxy.ProxyMetrics;
import dev.warmpath.router.proxy.ProxyVerticle;
import dev.warmpath.router.proxy.RetryBudget;
import dev.warmpath.router.proxy.Routes;
import dev.warmpath.router.proxy.StoredResponses;
import dev.warmpath.router.security.ServerTls;
import dev.warmpath.router.tokenize.TokenizerStatus;
import dev.warmpath.router.upstream.Upstreams;
import dev.warmpath.tokenizer.RequestKind;
import io.vertx.core.Deployable;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.net.NetServerOptions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running router. It starts whether or not its replicas are there, and {@link #close} ends it in
 * bounded time: readiness fails, new requests are refused, streams finish until their deadline and
 * are then cut off with an error.
 *
 * <p>Thread-safe.
 */
public final class RouterProcess implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(RouterProcess.class);
  private static final long START_SECONDS = 30;
  private static final long STOP_SECONDS = 5;
  private static final long QUIET_MILLIS = 250;
  private static final long CUT_MILLIS = 1_000;
  private static final int LOOPS_BESIDES_THE_PROXY = 2;
  private static final int ADMIN_CONNECTIONS = 1_024;
  private static final int PICKER_CONNECTIONS = 4_096;

  /** The clients of an address may take back all requests that are served, and as many again. */
  private static final int RESETS_A_REQUEST = 2;

  private final RunningConfig running;
  private final MemoryBudget budget;
  private final Core core;
  private final ClientConnections adminConnections;
  private final Vertx vertx;
  private final FileWatch files;
  private final Upstreams upstreams;
  private final Lifecycle lifecycle;
  private final ProxyContext.Admission admission;
  private final ClientConnections pickerConnections;
  private final @Nullable ServerTls pickerTls;
  private final List<ProxyVerticle> loops = Collections.synchronizedList(new ArrayList<>());
  private final List<PickerVerticle> pickers = Collections.synchronizedList(new ArrayList<>());
  private final Console console;
  private final @Nullable ClusterProcess cluster;
  private final AdminVerticle admin;
  private final Reloader reloader;

  private RouterProcess(RouterConfig config, Environment environment) {
    this.running = new RunningConfig(config);
    this.budget = budget(config);
    this.lifecycle = new Lifecycle(() -> running().limits().requests());
    this.files = new FileWatch(config.files().pollMs());
    ClientConnections connections =
        connections(environment, () -> running().limits().connections());
    this.adminConnections = connections(environment, () -> ADMIN_CONNECTIONS);
    this.pickerConnections = connections(environment, () -> PICKER_CONNECTIONS);
    this.vertx = newVertx(connections);
    PortSecurity security = PortSecurity.begin(config, files, vertx, environment.clocks());
    this.pickerTls = security.pickerTls();
    warnOfFiles(config);
    this.admission =
        new ProxyContext.Admission(
            lifecycle,
            new BodyRoom(this::bodyRoom),
            new HeapWatch(
                    environment.nanoClock(),
                    Runtime.getRuntime().maxMemory(),
                    environment.heapDead(),
                    HeapWatch::shrink)
                .begin(),
            connections,
            new RetryBudget(() -> running().retry().budgetPercent()),
            new StoredResponses(config.limits().storedResponses()),
            security.keys(),
            security.clientsTls());
    Metrics metrics = new Metrics().ofTheProcess();
    this.upstreams = new Upstreams(config.upstream(), vertx, files);
    this.cluster = ClusterProcess.of(config, environment, admission.responses(), security.keys());
    this.core = newCore(environment, metrics);
    this.reloader =
        new Reloader(environment.loader(), running, core::reload, metrics.registry(), files);
    this.console = newConsole(metrics, environment);
    core.dispatcher().keepScores(config.admin().decisionsKept() > 0);
    this.admin = new AdminVerticle(adminContext(security.admin()));
    metrics.add(to -> collect(to, security));
    try {
      if (cluster != null) {
        cluster.begin(core, () -> lifecycle.stage() == Lifecycle.Stage.OPEN);
      }
      deploy(environment);
    } catch (StartException e) {
      release();
      throw e;
    }
  }

  private static void warnOfFiles(RouterConfig config) {
    long wanted = RouterConfig.openFiles(config.replicas());
    long allowed = HostFacts.ofTheMachine().openFiles();
    if (allowed > 0 && allowed < wanted) {
      LOG.warn(
          "{} files may be open, but following the fleet needs {} before any client comes: {}",
          allowed,
          wanted,
          HostFacts.MORE_FILES);
    }
  }

  private void collect(MetricValues to, PortSecurity security) {
    admission.collect(to);
    core.collect(to);
    if (cluster != null) {
      cluster.cluster().collect(to);
    }
    console.collect(to);
    to.add(Metric.CONSOLE_LISTENERS, admin.listeners());
    if (security.keys() != null) {
      security.keys().collect(to);
    }
    files.collect(to);
    security.certificates().forEach(tls -> tls.collect(to));
  }

  private Console newConsole(Metrics metrics, Environment environment) {
    return new Console(
        new Totals.Sources(
            metrics.registry(), core.dispatcher(), core.ingest()::status, environment.nanoClock()),
        running().admin(),
        budget.decisionBytes(),
        environment.clock());
  }

  private static MemoryBudget budget(RouterConfig config) {
    MemoryBudget budget = MemoryBudget.of(config);
    try {
      budget.check();
    } catch (IllegalArgumentException e) {
      throw new StartException(String.valueOf(e.getMessage()), e);
    }
    LOG.debug("the heap is divided so:\n{}", budget.table());
    return budget;
  }

  private long bodyRoom() {
    int configuredMb = running().limits().bodiesMb();
    return configuredMb > 0 ? (long) configuredMb << 20 : budget.bodyBytes();
  }

  private RouterConfig running() {
    return running.get();
  }

  /**
   * Reads the configuration anew and applies what needs no restart.
   *
   * @param why what the log says
   */
  public ReloadResult reload(String why) {
    return reloader.reload(why);
  }

  /**
   * Starts a router and returns when its ports are open.
   *
   * @throws StartException when that cannot be
   */
  public static RouterProcess start(RouterConfig config, Environment environment) {
    RouterProcess router = startUnready(config, environment);
    router.ready();
    return router;
  }

  /**
   * Starts a router that serves requests, but is not ready before {@link #ready} is called.
   *
   * @throws StartException when that cannot be
   */
  static RouterProcess startUnready(RouterConfig config, Environment environment) {
    return new RouterProcess(config, environment);
  }

  /**
   * From now on its readiness is that of its replicas, once nothing more is awaited of neighbours.
   * It stays so when they go.
   */
  void ready() {
    var unused = core.seeded().thenRun(() -> lifecycle.advance(Lifecycle.Stage.OPEN));
  }

  /** Starts a router with the machine's clocks. */
  public static RouterProcess start(RouterConfig config) {
    return start(config, Environment.ofTheMachine());
  }

  /** The port that clients connect to. */
  public int port() {
    return loops.get(0).port();
  }

  /** The port of the admin endpoints. */
  public int adminPort() {
    return admin.port();
  }

  /** The replicas. */
  public Fleet fleet() {
    return core.fleet();
  }

  /** What adds and removes replicas. */
  public Membership membership() {
    return core.membership();
  }

  /** What gives requests to engines. */
  public Dispatcher dispatcher() {
    return core.dispatcher();
  }

  /** A request's prompt on each engine that may get it. */
  public List<EngineChain> chains(RequestKind kind, byte[] body) {
    return core.dispatcher().chains(core.prompts().readNow(kind, body, RoutingHints.NONE));
  }

  /** What is said of requests beside the pools that replicas are found by. */
  public InferenceRules rules() {
    return core.rules();
  }

  /** How full the heap is. */
  HeapWatch heap() {
    return admission.heap();
  }

  /** Requests being served now. */
  public int serving() {
    return lifecycle.serving();
  }

  @Override
  public void close() {
    LOG.info("leaving, {} requests in flight", lifecycle.serving());
    RouterConfig.Shutdown shutdown = running().shutdown();
    lifecycle.advance(Lifecycle.Stage.LEAVING);
    lifecycle.awaitEnd(shutdown.delayMs());
    lifecycle.advance(Lifecycle.Stage.CLOSING);
    if (!lifecycle.awaitQuiet(shutdown.deadlineMs(), Math.min(shutdown.delayMs(), QUIET_MILLIS))) {
      LOG.warn("cutting off {} requests", lifecycle.serving());
      List.copyOf(loops).forEach(ProxyVerticle::cut);
      List.copyOf(pickers).forEach(PickerVerticle::cut);
      lifecycle.awaitEmpty(CUT_MILLIS);
    }
    release();
  }

  private void release() {
    if (cluster != null) {
      cluster.close();
    }
    admission.heap().close();
    files.close();
    try {
      await(vertx.close(), STOP_SECONDS, "closing");
    } catch (StartException e) {
      LOG.warn("not everything was closed in time", e);
    }
    core.close();
  }

  private Core newCore(Environment environment, Metrics metrics) {
    try {
      return new Core(
          running, environment, metrics, upstreams, cluster == null ? null : cluster.cluster());
    } catch (RuntimeException e) {
      files.close();
      vertx.close();
      throw e;
    }
  }

  private ClientConnections connections(Environment environment, IntSupplier limit) {
    return new ClientConnections(
        limit,
        () -> running().timeouts(),
        environment.nanoClock(),
        () -> lifecycle.stage() == Lifecycle.Stage.CLOSING,
        () -> RESETS_A_REQUEST * running().limits().requests());
  }

  private boolean isAdmin(NetServerOptions server) {
    RouterConfig.Admin at = running().admin();
    return server.getPort() == at.port() && server.getHost().equals(at.host());
  }

  private boolean hasPicker() {
    return running().picker().port() > 0;
  }

  private boolean isPicker(NetServerOptions server) {
    return hasPicker() && server.getPort() == running().picker().port();
  }

  private Vertx newVertx(ClientConnections connections) {
    VertxOptions options =
        vertxOptions()
            .setEventLoopPoolSize((hasPicker() ? 2 : 1) * eventLoops() + LOOPS_BESIDES_THE_PROXY);
    return Vertx.builder()
        .with(options)
        .withTransport(
            new AcceptTransport(server -> {
              if (isPicker(server)) {
                return pickerConnections;
              }
              return isAdmin(server) ? adminConnections : connections;
            }))
        .build();
  }

  /** Those of a Vert.x that needs no folder for files. */
  static VertxOptions vertxOptions() {
    return new VertxOptions()
        .setFileSystemOptions(
            new FileSystemOptions()
                .setFileCachingEnabled(false)
                .setClassPathResolvingEnabled(false));
  }

  private int eventLoops() {
    int configured = running().listen().eventLoops();
    return configured > 0
        ? configured
        : Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
  }

  private void deploy(Environment environment) {
    ProxyContext proxy =
        new ProxyContext(
            running,
            core.dispatcher(),
            upstreams,
            core.prompts(),
            new RouterPages(core),
            new ProxyMetrics(core.metrics().registry()),
            environment.random(),
            environment.nanoClock(),
            admission,
            new RequestLogs(core.recording().decisions(), core.recording().accessLog(), recent()),
            core.recording().tracing(),
            new Routes(running().listen().passedPaths()),
            core.rules());
    deploy(
        () -> newLoop(proxy),
        eventLoops(),
        "listen on " + shown(running().listen().host(), running().listen().port()));
    if (hasPicker()) {
      PickerMetrics metrics = new PickerMetrics(core.metrics().registry());
      core.metrics().add(metrics::collect);
      deploy(
          () -> newPicker(proxy, metrics),
          eventLoops(),
          "picker on port " + running().picker().port());
    }
    deploy(() -> admin, 1, "admin on " + shown(running().admin().host(), running().admin().port()));
    deploy(() -> newHealthChecker(environment.nanoClock()), 1, "health checks");
  }

  /** Who else is told of each decision. */
  private RequestLogs.Recent recent() {
    String pool = running().admin().poolMetrics();
    if (pool == null) {
      return console;
    }
    PoolMetrics metrics =
        new PoolMetrics(pool, core.fleet(), core.dispatcher()::queued, core.metrics().foreign());
    return (decision, request) -> {
      console.add(decision, request);
      metrics.ended(decision);
    };
  }

  private ProxyVerticle newLoop(ProxyContext proxy) {
    ProxyVerticle loop = new ProxyVerticle(proxy, "loop-" + loops.size());
    loops.add(loop);
    return loop;
  }

  private PickerVerticle newPicker(ProxyContext proxy, PickerMetrics metrics) {
    PickerVerticle picker =
        new PickerVerticle(proxy, core.fleet(), pickerConnections, metrics, pickerTls);
    pickers.add(picker);
    return picker;
  }

  private HealthChecker newHealthChecker(LongSupplier nanoClock) {
    Function<Replica, String> path = replica -> core.isSglang(replica) ? "/model_info" : "/health";
    return new HealthChecker(
        running,
        core.fleet(),
        upstreams,
        core.catalog(),
        path,
        core.streams(),
        core.membership(),
        new FleetWatch(
            new FleetWatch.Sources(
                core.fleet(),
                core.catalog(),
                core.dispatcher()::report,
                core.ingest()::status,
                core.streams()::stores,
                () -> core.tokenizers().status().stream().map(TokenizerStatus::model).toList(),
                core.models()::modelOf,
                nanoClock)),
        nanoClock);
  }

  private void deploy(Supplier<? extends Deployable> verticle, int instances, String what) {
    await(
        vertx.deployVerticle(verticle, new DeploymentOptions().setInstances(instances)),
        START_SECONDS,
        what);
  }

  private static void await(Future<?> future, long seconds, String what) {
    try {
      future.toCompletionStage().toCompletableFuture().get(seconds, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      throw new StartException(what + ": " + cause.getMessage(), cause);
    } catch (TimeoutException e) {
      throw new StartException(what + ": took longer than " + seconds + " s", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StartException(what + ": interrupted", e);
    }
  }

  private AdminContext adminContext(AdminContext.Security security) {
    return new AdminContext(
        running,
        security,
        adminConnections,
        reloader,
        core.fleet(),
        core.membership(),
        core.dispatcher(),
        core.prewarmer().prewarming(),
        core.prompts(),
        core.ingest()::status,
        core.index(),
        core.metrics()::scrape,
        new HealthPage(new RouterPages(core), lifecycle),
        replica -> core.streams().clear(replica, "cleared by the operator"),
        lifecycle,
        admission.bodies(),
        core.tokenizers(),
        core.parity(),
        core.models(),
        console,
        files::status,
        cluster == null ? null : cluster.cluster());
  }

  private static String shown(String host, int port) {
    return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
  }
}
