package dev.warmpath.router.console;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.router.config.ConfigChanges.ConfigChange;
import dev.warmpath.router.config.Reloader.ReloadResult;
import dev.warmpath.router.logs.Decision;
import dev.warmpath.router.prompt.TreeRoom;
import dev.warmpath.router.proxy.RequestBody;
import dev.warmpath.router.proxy.RequestHead;
import dev.warmpath.router.proxy.Route;
import dev.warmpath.router.proxy.Routes;
import dev.warmpath.router.security.ServerTls;
import dev.warmpath.tokenizer.RequestKind;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The admin endpoints, on a port of their own: {@code GET /admin/fleet}, {@code GET
 * /admin/tokenizers}, {@code POST /admin/explain}, {@code POST /admin/tokenizers/MODEL/release},
 * those of {@link ReplicaEndpoints} and {@link ConsoleEndpoints}, {@code POST /admin/reload},
 * {@code GET /metrics}, and the {@link ConsolePage}. All work is done off the event loop.
 *
 * <p>Confined to its event loop; {@link #port()} may be asked by any thread once it is deployed.
 */
public final class AdminVerticle extends VerticleBase {

  private static final Logger LOG = LoggerFactory.getLogger(AdminVerticle.class);
  private static final ObjectMapper JSON = new ObjectMapper();

  private static final int IDLE_SECONDS = 120;

  private final AdminContext admin;
  private final AdminGuard guard;
  private final ReplicaEndpoints replicas;
  private final ConsoleEndpoints console;
  private final ConsolePage page = new ConsolePage();
  private volatile int port;
  private long watching = -1;
  private @Nullable HttpServer server;
  private volatile @Nullable ConsoleStream live;

  public AdminVerticle(AdminContext admin) {
    this.admin = admin;
    this.guard = new AdminGuard(admin.config().admin(), admin.security().key());
    this.replicas = new ReplicaEndpoints(admin);
    this.console = new ConsoleEndpoints(admin);
  }

  /** The port that it listens on. */
  public int port() {
    return port;
  }

  /** How many listen to the console's events; any thread may ask. */
  public int listeners() {
    ConsoleStream stream = live;
    return stream == null ? 0 : stream.listeners();
  }

  @Override
  public Future<?> start() {
    live = new ConsoleStream(vertx, console, ConsoleEndpoints.TURN_MILLIS);
    vertx.setPeriodic(
        TimeUnit.SECONDS.toMillis(Console.STEP_SECONDS), id -> vertx.executeBlocking(this::step));
    HttpServerOptions options =
        new HttpServerOptions()
            .setHost(admin.config().admin().host())
            .setPort(admin.config().admin().port())
            .setHttp2ClearTextEnabled(false)
            .setAlpnVersions(List.of(HttpVersion.HTTP_1_1))
            .setMaxHeaderSize(admin.config().limits().headerBytes())
            .setMaxInitialLineLength(admin.config().limits().headerBytes())
            .setHandle100ContinueAutomatically(true)
            .setIdleTimeout(IDLE_SECONDS);
    ServerTls tls = admin.security().tls();
    watching = admin.connections().watch(vertx);
    Router routes = routes();
    server = vertx.createHttpServer(tls == null ? options : tls.on(options));
    return server
        .requestHandler(request -> serve(request, routes))
        .invalidRequestHandler(this::refuseUnreadable)
        .exceptionHandler(e -> LOG.debug("a connection to the admin port failed", e))
        .listen()
        .onSuccess(listening -> {
          port = listening.actualPort();
          if (tls != null) {
            tls.listening(listening);
          }
        });
  }

  private boolean step() {
    admin.console().step();
    return true;
  }

  @Override
  public Future<?> stop() {
    vertx.cancelTimer(watching);
    return server == null ? Future.succeededFuture() : server.close();
  }

  /** A head that is too long, or no HTTP; its connection is not read further. */
  private void refuseUnreadable(HttpServerRequest request) {
    if (admin.connections().began(request)) {
      request.response().putHeader("connection", "close");
      fail(request.response(), 400, "the request is not valid HTTP, or its head is too long");
      admin.connections().end(request);
    }
  }

  private void serve(HttpServerRequest request, Router routes) {
    if (!admin.connections().began(request)) {
      return;
    }
    RequestHead head = RequestHead.of(request);
    if (head == null) {
      request.response().putHeader("connection", "close");
      fail(request.response(), 400, "the request can be understood in more than one way");
      admin.connections().end(request);
      return;
    }
    if (RequestHead.endsConnection(request)) {
      request.response().putHeader("connection", "close");
      admin.connections().endAfter(request);
    }
    routes.handle(request);
  }

  /** Paths in the order in which they are tried: behind the guard only for who may. */
  private Router routes() {
    Router all = Router.router(vertx);
    all.route().handler(this::servePage);
    all.get("/health").handler(ask -> admin.health().ready(ask.response()));
    all.get("/health/ready").handler(ask -> admin.health().ready(ask.response()));
    all.get("/health/live").handler(ask -> admin.health().live(ask.response()));
    all.route().handler(this::guard);
    all.get("/metrics").handler(ask -> metrics(ask.response()));
    all.get("/admin/fleet").handler(show(() -> FleetReport.of(admin)));
    all.get("/admin/cluster").handler(show(() -> ClusterReport.of(admin.cluster())));
    all.get("/admin/tokenizers").handler(show(() -> TokenizerReport.of(admin)));
    all.postWithRegex("/admin/tokenizers/(?<model>.+)/release")
        .handler(ask -> release(ask.response(), parameter(ask, "model")));
    all.post("/admin/explain")
        .handler(ask ->
            withBody(
                ask.request(),
                admin.config().limits().bodyBytes(),
                body -> explain(ask.request(), body)));
    all.post("/admin/reload").handler(ask -> reload(ask.response()));
    all.get(ConsoleEndpoints.LIVE).handler(this::listen);
    console.addTo(all, this::reply);
    addReplicas(all);
    all.errorHandler(400, ask -> fail(ask.response(), 400, "the path is not encoded as URLs are"));
    all.errorHandler(404, AdminVerticle::refuseUnknown);
    all.errorHandler(405, AdminVerticle::refuseUnknown);
    all.errorHandler(500, ask -> failed(ask.response(), ask.failure()));
    return all;
  }

  private void addReplicas(Router all) {
    all.get("/admin/replicas").handler(show(replicas::list));
    all.post("/admin/replicas")
        .handler(ask ->
            withBody(
                ask.request(),
                ReplicaEndpoints.MAX_BODY_BYTES,
                body -> reply(ask, () -> replicas.add(new String(body, StandardCharsets.UTF_8)))));
    all.delete("/admin/replicas/:name").handler(onReplica(replicas::remove));
    all.post("/admin/replicas/:name/drain").handler(onReplica(replicas::drain));
    all.post("/admin/replicas/:name/resume").handler(onReplica(replicas::resume));
    all.post("/admin/replicas/:name/clear").handler(onReplica(replicas::clear));
    all.post("/admin/replicas/:name/warm").handler(onReplica(replicas::warm));
  }

  private Handler<RoutingContext> onReplica(ReplicaEndpoints.Action action) {
    return ask -> {
      String name = parameter(ask, "name");
      reply(ask, () -> replicas.withMember(name, action));
    };
  }

  private Handler<RoutingContext> show(Callable<ObjectNode> report) {
    return ask -> answer(ask.response(), () -> report.call().toString());
  }

  private static String parameter(RoutingContext ask, String name) {
    return Objects.requireNonNull(ask.pathParam(name), name);
  }

  private void servePage(RoutingContext ask) {
    if (!page.answers(ask.request())) {
      ask.next();
    }
  }

  /** A path has one form here, without a slash at its end. */
  private void guard(RoutingContext ask) {
    String path = ask.normalizedPath();
    RequestHead head = Objects.requireNonNull(RequestHead.of(ask.request()));
    AdminGuard.Refusal refusal = guard.refusal(ask.request(), head, path);
    if (refusal != null) {
      fail(ask.response(), refusal.status(), refusal.why());
    } else if (path.endsWith("/")) {
      refuseUnknown(ask);
    } else {
      ask.next();
    }
  }

  private static void refuseUnknown(RoutingContext ask) {
    fail(ask.response(), 404, "no such path, or not with this method");
  }

  private void listen(RoutingContext ask) {
    ConsoleStream stream = Objects.requireNonNull(live);
    HttpServerRequest request = ask.request();
    RequestHead head = Objects.requireNonNull(RequestHead.of(request));
    String path = ask.normalizedPath();
    if (!stream.join(request, () -> guard.refusal(request, head, path) == null)) {
      fail(ask.response(), 503, "too many look at the console already");
    }
  }

  private void release(HttpServerResponse response, String model) {
    if (admin.tokenizers().status(model) == null) {
      fail(response, 404, "no tokenizer is configured for " + Decision.shown(model));
      return;
    }
    answer(
        response,
        () -> {
          boolean released =
              admin.parity() == null
                  ? admin.tokenizers().release(model)
                  : admin.parity().release(model);
          return JSON.createObjectNode().put("model", model).put("released", released).toString();
        });
  }

  private void reply(RoutingContext ask, Callable<ReplicaEndpoints.Reply> work) {
    answer(
        ask.response(),
        () -> {
          ReplicaEndpoints.Reply reply = work.call();
          ask.response().setStatusCode(reply.status());
          return reply.body().toString();
        });
  }

  private void reload(HttpServerResponse response) {
    answer(
        response,
        () -> {
          ReloadResult result = admin.reloader().reload("POST /admin/reload");
          response.setStatusCode(result.problems().isEmpty() ? 200 : 400);
          return ReloadReport.of(result).toString();
        });
  }

  private void metrics(HttpServerResponse response) {
    response.putHeader("content-type", "text/plain; version=0.0.4");
    answer(response, () -> admin.metrics().get());
  }

  private void withBody(HttpServerRequest request, int maxBytes, Consumer<byte[]> work) {
    RequestBody body = new RequestBody(admin.bodies(), maxBytes, request);
    RequestBody.Taken[] taken = {RequestBody.Taken.TAKEN};
    request.handler(chunk -> {
      if (taken[0] == RequestBody.Taken.TAKEN) {
        taken[0] = body.add(chunk);
      }
    });
    request.exceptionHandler(e -> body.drop());
    request.response().closeHandler(v -> body.drop());
    request.endHandler(v -> {
      switch (taken[0]) {
        case TAKEN -> work.accept(body.whole());
        case TOO_LARGE -> fail(request.response(), 413, "the body is too large");
        case NO_ROOM -> fail(request.response(), 503, "request bodies take all the room there is");
      }
      body.drop();
    });
  }

  private void explain(HttpServerRequest request, byte[] body) {
    HttpServerResponse response = request.response();
    String path = request.getParam("path");
    ExplainReport.Detail detail =
        new ExplainReport.Detail(
            "tokens".equals(request.getParam("detail")),
            "all".equals(request.getParam("policies")));
    String session = request.getParam("session");
    String named =
        session == null ? request.getHeader(admin.config().policy().sessionHeader()) : session;
    answer(
        response,
        () -> {
          RequestKind kind;
          try (TreeRoom.Share share = admin.prompts().trees().share()) {
            JsonNode parsed = parse(body, share);
            if (!parsed.isObject()) {
              response.setStatusCode(400);
              return error("the body is not a JSON object");
            }
            kind = path == null ? BodyKind.guess(parsed) : BodyKind.ofPath(path);
          } catch (TreeRoom.FullException e) {
            response.setStatusCode(503);
            return error("the body's objects take more memory than prompts may");
          }
          if (kind == null) {
            response.setStatusCode(400);
            return error("no prompt is read for that path");
          }
          return ExplainReport.of(admin, kind, body, named, detail).toString();
        });
  }

  private static JsonNode parse(byte[] body, TreeRoom.Share share) {
    try {
      return share.parse(JSON, body);
    } catch (IOException e) {
      return JSON.nullNode();
    }
  }

  private void answer(HttpServerResponse response, Callable<String> work) {
    vertx
        .executeBlocking(work, false)
        .onSuccess(text -> send(response, text))
        .onFailure(e -> failed(response, e));
  }

  private static void failed(HttpServerResponse response, Throwable e) {
    LOG.error("an admin request failed", e);
    fail(response, 500, "internal error");
  }

  private static void send(HttpServerResponse response, String text) {
    if (!response.headers().contains("content-type")) {
      response.putHeader("content-type", "application/json");
    }
    response.end(text);
  }

  private static void fail(HttpServerResponse response, int status, String what) {
    response.putHeader("content-type", "application/json");
    response.setStatusCode(status).end(error(what));
  }

  private static String error(String what) {
    return errorNode(what).toString();
  }

  static ObjectNode errorNode(String what) {
    ObjectNode root = JSON.createObjectNode();
    root.putObject("error").put("message", what);
    return root;
  }

  /**
   * Finds out for which path a body is: by what only that path's bodies have.
   *
   * <p>Immutable.
   */
  private static final class BodyKind {

    /** Fields of a Messages request that no chat has. */
    private static final List<String> MESSAGES_FIELDS =
        List.of("system", "stop_sequences", "anthropic_version", "anthropic_beta", "mcp_servers");

    /** Content that only Messages requests have. */
    private static final Set<String> MESSAGES_BLOCKS =
        Set.of("tool_use", "tool_result", "redacted_thinking", "image", "document");

    private BodyKind() {}

    /** How bodies of {@code path} are read; null if it takes none. */
    static @Nullable RequestKind ofPath(String path) {
      return Routes.ALWAYS.find(path).map(Route::kind).orElse(null);
    }

    /** What the body looks like. A Messages request without a mark of its own counts as a chat. */
    static RequestKind guess(JsonNode body) {
      if (body.has("messages")) {
        return isMessages(body) ? RequestKind.MESSAGES : RequestKind.CHAT;
      }
      return body.has("input") ? RequestKind.RESPONSES : RequestKind.COMPLETION;
    }

    private static boolean isMessages(JsonNode body) {
      if (MESSAGES_FIELDS.stream().anyMatch(body::has)) {
        return true;
      }
      for (JsonNode tool : body.path("tools")) {
        if (tool.has("input_schema")) {
          return true;
        }
      }
      for (JsonNode message : body.path("messages")) {
        for (JsonNode block : message.path("content")) {
          if (MESSAGES_BLOCKS.contains(block.path("type").asText()) || block.has("cache_control")) {
            return true;
          }
        }
      }
      return false;
    }
  }

  /** The answer of {@code POST /admin/reload}: what has changed, or why nothing has. */
  private static final class ReloadReport {

    private ReloadReport() {}

    static ObjectNode of(ReloadResult result) {
      if (!result.problems().isEmpty()) {
        ObjectNode refused = AdminVerticle.errorNode("the configuration stays as it is");
        result.problems().forEach(refused.putArray("problems")::add);
        return refused;
      }
      ObjectNode root = JsonNodeFactory.instance.objectNode();
      changes(root.putArray("applied"), result.applied());
      changes(root.putArray("needsRestart"), result.needsRestart());
      return root;
    }

    private static void changes(ArrayNode to, List<ConfigChange> changes) {
      for (ConfigChange change : changes) {
        to.addObject()
            .put("key", change.key())
            .put("before", change.before())
            .put("after", change.after());
      }
    }
  }
}
