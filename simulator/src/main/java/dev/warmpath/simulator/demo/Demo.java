package dev.warmpath.simulator.demo;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.router.RouterProcess;
import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.KvCacheConfig;
import dev.warmpath.simulator.engine.StepCost;
import dev.warmpath.simulator.live.LiveEngine;
import dev.warmpath.simulator.live.LiveEngineOptions;
import dev.warmpath.simulator.live.LiveEngines;
import dev.warmpath.simulator.terminal.ProgressBar;
import dev.warmpath.tokenizer.ModelTokenizer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Runs the same chats through the router under one policy after the other, each on fresh engines.
 * The last fleet, or all of them, stay up until {@link #close}.
 *
 * <p>Confined to one thread.
 */
public final class Demo implements AutoCloseable {

  private static final String LAST = "warm";
  private static final List<String> POLICIES = List.of("round-robin", LAST);

  private final DemoPlan plan;
  private final Duration idle;
  private final boolean keepsAll;
  private final Consumer<String> progress;
  private final ModelTokenizer tokenizer = ModelTokenizer.embedded();
  private final Map<String, DemoFleet> fleets = new LinkedHashMap<>();
  private final List<GentleLoad> loads = new ArrayList<>();

  /**
   * @param idle a request is given up when nothing of its answer came for so long
   * @param keepsAll whether the fleet of each policy stays up, and its console's address is shown
   * @param progress where the progress bar goes
   */
  public Demo(DemoPlan plan, Duration idle, boolean keepsAll, Consumer<String> progress) {
    this.plan = plan;
    this.idle = idle;
    this.keepsAll = keepsAll;
    this.progress = progress;
  }

  /** Runs all policies. */
  public DemoReport run() throws InterruptedException {
    Map<String, LoadReport> reports = new LinkedHashMap<>();
    for (String policy : POLICIES) {
      reports.put(policy, run(policy));
    }
    return new DemoReport(reports);
  }

  /** Gives each fleet that is up a gentle load until {@link #close}: the same chats for all. */
  public void keepServing() {
    fleets.values().forEach(fleet -> loads.add(new GentleLoad(plan, client(fleet))));
  }

  /** What can be tried by hand now. */
  public String invitation() {
    DemoFleet fleet = fleets.get(LAST);
    if (fleet == null) {
      throw new IllegalStateException("not running");
    }
    String url = fleet.url();
    String admin = fleet.adminUrl();
    String request =
        "{\"model\":\""
            + DemoPlan.MODEL
            + "\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}";
    return String.join(
        System.lineSeparator(),
        "",
        "A gentle load goes on, the same chats under each policy; end it with Ctrl-C.",
        consoles(),
        "Under the policy warm:",
        "  chat      curl -si "
            + url
            + "/v1/chat/completions -H 'content-type: application/json' \\",
        "              -d '" + request + "'",
        "  replicas  curl -s " + admin + "/admin/fleet",
        "  explain   curl -s " + admin + "/admin/explain -d '" + request + "'",
        "  metrics   curl -s " + admin + "/metrics",
        "");
  }

  /** The console of each router that is up: one page beside the other shows the difference. */
  private String consoles() {
    return fleets.entrySet().stream()
        .map(each -> "  console   " + page(each.getValue()) + "   (" + each.getKey() + ")")
        .collect(Collectors.joining(System.lineSeparator()));
  }

  private static String page(DemoFleet fleet) {
    return fleet.adminUrl() + "/admin/ui";
  }

  @Override
  public void close() {
    closeFleets();
    tokenizer.close();
  }

  private LoadReport run(String policy) throws InterruptedException {
    if (!keepsAll) {
      closeFleets();
    }
    DemoFleet started = new DemoFleet(tokenizer, plan.engine(), plan.replicas(), policy);
    fleets.put(policy, started);
    started.awaitReady();
    if (keepsAll) {
      progress.accept("watch " + policy + " at " + page(started) + System.lineSeparator());
    }
    ChatLoad load = plan.load();
    ProgressBar bar =
        new ProgressBar(
            progress, policy, load.requests(), ProgressBar.Unit.COUNT, System::nanoTime);
    return new LoadRun(load, client(started), plan.clients(), bar::show).run();
  }

  private ChatClient client(DemoFleet fleet) {
    return new ChatClient(fleet.url(), idle, System::nanoTime);
  }

  private void closeFleets() {
    loads.forEach(GentleLoad::close);
    loads.clear();
    fleets.values().forEach(DemoFleet::close);
    fleets.clear();
  }

  /**
   * Few chats at a time, until the end, so that a console has something to show: the demo's load
   * with other words in each round.
   *
   * <p>Thread-safe.
   */
  private static final class GentleLoad implements AutoCloseable {

    private static final int CLIENTS = 2;
    private static final long REST_SECONDS = 1;

    private final DemoPlan plan;
    private final ChatSender client;
    private final Thread thread;

    /** Begins at once. */
    GentleLoad(DemoPlan plan, ChatSender client) {
      this.plan = plan;
      this.client = client;
      thread = new Thread(this::run, "gentle-load");
      thread.setDaemon(true);
      thread.start();
    }

    @Override
    public void close() {
      thread.interrupt();
      try {
        thread.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    private void run() {
      try {
        for (int round = 1; true; round++) {
          new LoadRun(plan.gentleLoad(round), this::send, CLIENTS, done -> {}).run();
        }
      } catch (InterruptedException e) {
        return; // closed
      }
    }

    /** Rests after a failure, as when all replicas were drained on the console. */
    private ChatReply send(String body) {
      ChatReply reply = client.send(body);
      if (reply.error() != null) {
        try {
          TimeUnit.SECONDS.sleep(REST_SECONDS);
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      }
      return reply;
    }
  }

  /**
   * Fresh simulated engines and a router in front of them, in this process.
   *
   * <p>Thread-safe.
   */
  public static final class DemoFleet implements AutoCloseable {

    private static final String ORIGIN = "demo";
    private static final Duration READY_LIMIT = Duration.ofSeconds(60);

    private final LiveEngines launcher;
    private final List<LiveEngine> engines = new ArrayList<>();
    private final RouterProcess router;
    private final FleetPage page;

    /**
     * Starts everything on any ports.
     *
     * @param tokenizer of the engines; must be the embedded one, which is the router's too
     */
    public DemoFleet(
        ModelTokenizer tokenizer, LiveEngineOptions engine, int replicas, String policy) {
      launcher = new LiveEngines(tokenizer);
      try {
        for (int i = 0; i < replicas; i++) {
          engines.add(launcher.start(engine));
        }
        router = RouterProcess.start(config(engine.model(), policy));
      } catch (RuntimeException e) {
        launcher.close();
        throw e;
      }
      page = new FleetPage(adminUrl());
    }

    public String url() {
      return "http://127.0.0.1:" + router.port();
    }

    public String adminUrl() {
      return "http://127.0.0.1:" + router.adminPort();
    }

    /** The engines, named {@code engine-0} and so on in the router. */
    public List<LiveEngine> engines() {
      return List.copyOf(engines);
    }

    public RouterProcess router() {
      return router;
    }

    /** Waits until every replica is up and its events are followed. */
    public void awaitReady() throws InterruptedException {
      if (!page.awaitReady(READY_LIMIT)) {
        throw new IllegalStateException("the fleet is not ready: " + page.read());
      }
    }

    /** The router's answer to {@code GET /admin/fleet}. */
    public JsonNode fleetPage() throws InterruptedException {
      return page.read();
    }

    @Override
    public void close() {
      router.close();
      launcher.close();
    }

    private RouterConfig config(String model, String policy) {
      try {
        ConfigTree tree =
            ConfigTree.empty()
                .set("listen.port", 0, ORIGIN)
                .set("admin.port", 0, ORIGIN)
                .set("admin.show-prompts", true, ORIGIN)
                .set("headers.cached-tokens", true, ORIGIN)
                .set("policy.name", policy, ORIGIN)
                .set("shutdown.deadline-ms", 2_000, ORIGIN)
                .set("health.interval-ms", 500, ORIGIN)
                .set("health.timeout-ms", 5_000, ORIGIN)
                .set("health.fall", 10, ORIGIN)
                .put("models", Map.of("name", model, "tokenizer", "embedded"), ORIGIN);
        for (int i = 0; i < engines.size(); i++) {
          tree = tree.put("replicas", replica("engine-" + i, engines.get(i)), ORIGIN);
        }
        return tree.config();
      } catch (ConfigException e) {
        throw new IllegalStateException("the demo's configuration", e);
      }
    }

    private static Map<String, String> replica(String name, LiveEngine engine) {
      return Map.of(
          "name", name,
          "url", engine.url(),
          "events", engine.eventsEndpoint(),
          "replay", engine.replayEndpoint());
    }
  }

  /**
   * The sizes of the demo.
   *
   * <p>Each engine's cache holds about half more than its share of the active chats: enough for a
   * policy that keeps a chat where it is. When the chats go round, an engine computes a whole share
   * anew in each round, and most chats come back to it only after as many rounds as there are
   * engines. The tenants take turns on each engine, so that their prompts are never old. So what a
   * chat is going to reuse is either safe or long gone, and is hardly ever evicted between dispatch
   * and scheduling, where no router could know.
   *
   * @param requests for each policy
   * @param replicas engines
   * @param speed how many times faster than their time model they are
   */
  public record DemoPlan(int requests, int replicas, double speed) {

    static final String MODEL = "warmpath-demo";

    private static final int BLOCK_TOKENS = 16;
    private static final int STEP_TOKENS = 1024;
    private static final int MOST_CHATS = 12;
    private static final int FEWEST_CHATS = 6;
    private static final int REQUESTS_PER_CHAT = 7;
    private static final int CHATS_PER_CLIENT = 6;
    private static final int CACHE_BLOCKS_PER_CHAT = 72;
    private static final int TENANTS = 5;
    private static final long SEED = 20_261_121;
    private static final int GENTLE_REQUESTS = 5_000;

    public DemoPlan {
      if (replicas < 2 || replicas > 32) {
        throw new IllegalArgumentException("--replicas must be from 2 to 32");
      }
      if (requests < 1 || requests > 1_000_000) {
        throw new IllegalArgumentException("--requests must be from 1 to 1000000");
      }
    }

    /** Engines as fast as their time model. */
    public DemoPlan(int requests, int replicas) {
      this(requests, replicas, 1);
    }

    ChatLoad load() {
      return load(requests, SEED);
    }

    /** What goes on while people look; {@code round} counts from 1. */
    ChatLoad gentleLoad(int round) {
      return load(GENTLE_REQUESTS, SEED + round);
    }

    /** One chat more than a multiple of the replicas, so that taking turns spreads every chat. */
    private ChatLoad load(int total, long seed) {
      int chats = chatsPerReplica() * replicas + 1;
      return new ChatLoad(MODEL, total, chats, 10, TENANTS, 40, 60, 24, seed);
    }

    int clients() {
      return Math.min(requests, chatsPerReplica() / CHATS_PER_CLIENT * replicas);
    }

    LiveEngineOptions engine() {
      int blocks = CACHE_BLOCKS_PER_CHAT * chatsPerReplica();
      KvCacheConfig cache = KvCacheConfig.fullAttention(BLOCK_TOKENS, blocks);
      EngineConfig engine =
          new EngineConfig(cache, STEP_TOKENS, 64, cache.maxSequenceTokens(), StepCost.H100X4);
      LiveEngineOptions options = LiveEngineOptions.of(MODEL, engine);
      return options.pace(speed, options.answerTokens());
    }

    /** Active chats for each replica: few enough for a short run to come back to them. */
    private int chatsPerReplica() {
      int affordable = requests / (REQUESTS_PER_CHAT * replicas);
      return Math.max(FEWEST_CHATS, Math.min(MOST_CHATS, affordable));
    }
  }
}
