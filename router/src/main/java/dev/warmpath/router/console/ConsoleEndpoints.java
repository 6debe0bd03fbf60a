package dev.warmpath.router.console;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.eventingest.EngineView;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.router.cluster.Cluster;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.console.ReplicaEndpoints.Reply;
import dev.warmpath.router.fleet.EngineReport;
import dev.warmpath.router.fleet.HotPrefix;
import dev.warmpath.router.fleet.HotPrefixes;
import dev.warmpath.router.metrics.Metrics;
import dev.warmpath.tokenizer.ModelTokenizer;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What the console asks for: {@code GET /admin/console/history}, {@code …/settings}, the events of
 * {@code …/live}, {@code GET /admin/decisions}, {@code GET /admin/decisions/ID/explain} and {@code
 * GET /admin/prefixes}.
 *
 * <p>Thread-safe; events are computed one turn at a time.
 */
final class ConsoleEndpoints implements ConsoleStream.Source {

  static final String LIVE = "/admin/console/live";
  static final long TURN_MILLIS = 1_000;

  private static final String HISTORY = "/admin/console/history";
  private static final String SETTINGS = "/admin/console/settings";
  private static final String DECISIONS = "/admin/decisions";
  private static final String PREFIXES = "/admin/prefixes";
  private static final String EXPLAIN = DECISIONS + "/(?<id>[0-9]{1,18})/explain";

  private static final int MOST_SHOWN = 1_000;
  private static final int USUALLY_SHOWN = 100;
  private static final int PREFIXES_SHOWN = 50;

  /** Decisions in one turn. */
  private static final int MOST_NEW = 50;

  /** Turns between two looks at the whole fleet; one that is larger is looked at less often. */
  private static final int FLEET_TURNS = 2;

  private static final int REPLICAS_A_TURN = 100;

  /** The values of a query, by name. */
  interface Parameters extends Function<String, @Nullable String> {}

  private final AdminContext admin;
  private volatile long lastSent;

  ConsoleEndpoints(AdminContext admin) {
    this.admin = admin;
  }

  /**
   * Adds what is answered with GET, but for the stream of events.
   *
   * @param reply answers with what is found off the event loop
   */
  void addTo(Router routes, BiConsumer<RoutingContext, Callable<Reply>> reply) {
    routes.get(HISTORY).handler(ask -> reply.accept(ask, checked(() -> history(parameters(ask)))));
    routes.get(SETTINGS).handler(ask -> reply.accept(ask, () -> Reply.ok(settings())));
    routes
        .get(DECISIONS)
        .handler(ask -> {
          Parameters parameters = parameters(ask);
          reply.accept(ask, checked(() -> admin.console().decisions(query(parameters))));
        });
    routes
        .getWithRegex(EXPLAIN)
        .handler(ask -> {
          long id = Long.parseLong(Objects.requireNonNull(ask.pathParam("id")));
          reply.accept(ask, () -> explain(id, parameters(ask)));
        });
    routes
        .get(PREFIXES)
        .handler(ask -> reply.accept(ask, checked(() -> prefixes(parameters(ask)))));
  }

  private static Parameters parameters(RoutingContext ask) {
    return ask.request()::getParam;
  }

  /** A parameter that cannot be understood is the client's fault. */
  private static Callable<Reply> checked(Callable<ObjectNode> work) {
    return () -> {
      try {
        return Reply.ok(work.call());
      } catch (IllegalArgumentException e) {
        return Reply.failed(400, String.valueOf(e.getMessage()));
      }
    };
  }

  private ObjectNode history(Parameters parameters) {
    int seconds = whole("seconds", parameters, Console.HISTORY_SECONDS, Console.HISTORY_SECONDS);
    return admin.console().history(seconds);
  }

  private ObjectNode prefixes(Parameters parameters) {
    return PrefixReport.of(
        admin, whole("limit", parameters, PREFIXES_SHOWN, HotPrefixes.MOST_NODES));
  }

  private ObjectNode settings() {
    RouterConfig.Admin config = admin.config().admin();
    return JsonNodeFactory.instance
        .objectNode()
        .put("policy", admin.dispatcher().policy().name())
        .put("version", Metrics.version())
        .put("stepSeconds", Console.STEP_SECONDS)
        .put("showPrompts", config.showPrompts())
        .put("decisionsKept", config.decisionsKept());
  }

  private static RecentDecisions.Query query(Parameters parameters) {
    String before = parameters.apply("before");
    boolean over = "true".equals(parameters.apply("over"));
    String replica = parameters.apply("replica");
    String reason = parameters.apply("reason");
    return new RecentDecisions.Query(
        whole("limit", parameters, USUALLY_SHOWN, MOST_SHOWN),
        before == null ? Long.MAX_VALUE : whole("before", before, Long.MAX_VALUE),
        decision ->
            (!over || decision.overTokens() > 0)
                && (replica == null || decision.isOf(replica))
                && (reason == null || reason.equals(decision.reason())));
  }

  private Reply explain(long id, Parameters parameters) {
    ExplainReport.Detail detail =
        new ExplainReport.Detail(true, "all".equals(parameters.apply("policies")));
    return admin
        .console()
        .decision(id)
        .map(decision -> Reply.ok(ExplainReport.of(admin, decision, detail)))
        .orElseGet(() -> Reply.failed(404, "this decision is not kept any more"));
  }

  private static int whole(String name, Parameters parameters, int usual, int most) {
    String text = parameters.apply(name);
    return text == null ? usual : (int) whole(name, text, most);
  }

  /** A number from 1 to {@code most}. */
  private static long whole(String name, String text, long most) {
    try {
      long number = Long.parseLong(text);
      if (number >= 1 && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      // reported below
    }
    throw new IllegalArgumentException(name + " must be a whole number from 1 to " + most);
  }

  @Override
  public void begin() {
    lastSent = admin.console().lastDecision();
  }

  @Override
  public String first() {
    return cluster() + fleet() + now();
  }

  @Override
  public String next(long turn) {
    int turns = Math.max(FLEET_TURNS, admin.fleet().replicas().size() / REPLICAS_A_TURN);
    String events = turn % turns == 0 ? now() + fleet() : now();
    return cluster() + events + decisions();
  }

  /** Nothing if this router is alone. */
  private String cluster() {
    Cluster cluster = admin.cluster();
    return cluster == null
        ? ""
        : ConsoleStream.event("cluster", ClusterReport.of(cluster).toString());
  }

  private String fleet() {
    return ConsoleStream.event("fleet", FleetReport.live(admin).toString());
  }

  private String now() {
    return ConsoleStream.event("now", admin.console().now().toString());
  }

  private String decisions() {
    ArrayNode made = admin.console().decisionsSince(lastSent, MOST_NEW);
    if (made.isEmpty()) {
      return "";
    }
    lastSent = made.get(made.size() - 1).path("id").asLong();
    return ConsoleStream.event("decision", made.toString());
  }

  /**
   * The answer of {@code GET /admin/prefixes}: the prefixes that saved most tokens, and which
   * engines hold them now. It holds text only with {@code admin.show-prompts}.
   *
   * <p>Confined to the asking thread.
   */
  private static final class PrefixReport {

    private final AdminContext admin;

    /** The engines with an index, by the space of their blocks. */
    private final Map<ChainSpace, List<EngineReport>> engines = new LinkedHashMap<>();

    private final PrefixMatches matches = new PrefixMatches();

    private PrefixReport(AdminContext admin) {
      this.admin = admin;
      for (EngineReport engine : admin.dispatcher().report()) {
        EngineView view = engine.view();
        if (view.space() != null && view.slot() >= 0 && view.trust() != Trust.NONE) {
          engines.computeIfAbsent(view.space(), space -> new ArrayList<>()).add(engine);
        }
      }
    }

    static ObjectNode of(AdminContext admin, int most) {
      PrefixReport report = new PrefixReport(admin);
      ObjectNode root = JsonNodeFactory.instance.objectNode();
      ArrayNode list = root.putArray("prefixes");
      admin.console().prefixes(most).forEach(prefix -> report.prefix(list.addObject(), prefix));
      return root;
    }

    private void prefix(ObjectNode to, HotPrefix prefix) {
      to.put("id", prefix.id());
      to.put("model", prefix.model());
      to.put("tokens", prefix.tokens());
      to.put("tokensSaved", prefix.tokensSaved());
      to.put("requests", prefix.requests());
      ArrayNode holders = JsonNodeFactory.instance.arrayNode();
      engines.forEach((space, there) -> {
        BlockChain chain = prefix.chain().in(space);
        if (chain != null) {
          admin.index().match(chain, matches);
          there.stream()
              .filter(engine -> matches.tokens(engine.view().slot()) >= prefix.tokens())
              .forEach(engine -> holders.add(engine.engine()));
        }
      });
      to.put("engines", holders.size());
      to.set("holders", holders);
      HotPrefix.Ends ends = prefix.ends();
      ModelTokenizer tokenizer =
          ends == null ? null : ExplainReport.tokenizer(admin, prefix.model());
      to.put("firstWords", text(tokenizer, ends == null ? null : ends.first()));
      to.put("lastWords", text(tokenizer, ends == null ? null : ends.last()));
    }

    private static @Nullable String text(
        @Nullable ModelTokenizer tokenizer, int @Nullable [] tokenIds) {
      return tokenizer == null || tokenIds == null ? null : tokenizer.decode(tokenIds);
    }
  }
}
