package dev.warmpath.lab.chaos;

import dev.warmpath.lab.chaos.ChaosClient.ClientBehaviour;
import dev.warmpath.lab.chaos.ChaosEngine.EngineFault;
import dev.warmpath.lab.chaos.ChaosPlan.Phase;
import dev.warmpath.lab.chaos.Classifier.ChaosVerdict;
import dev.warmpath.lab.chaos.Classifier.ChaosVerdict.Kind;
import dev.warmpath.lab.chaos.Questions.Question;
import dev.warmpath.router.RouterProcess;
import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.fleet.EngineReport;
import dev.warmpath.router.routing.Load;
import dev.warmpath.router.routing.Policies;
import dev.warmpath.simulator.demo.FleetPage;
import dev.warmpath.simulator.engine.EngineGauges;
import dev.warmpath.simulator.live.LiveEngine;
import dev.warmpath.simulator.live.LiveEngineOptions;
import dev.warmpath.simulator.live.LiveEngines;
import dev.warmpath.tokenizer.ModelTokenizer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Runs a plan: load in an open loop, faults in the last phase, then an end at which nothing may be
 * left.
 *
 * <p>Confined to one thread; runs once.
 */
final class ChaosRun {

  private static final int MOST_AT_ONCE = 600;

  private final ChaosPlan plan;
  private final Consumer<String> findings;
  private final ChaosReport report;
  private final Semaphore places = new Semaphore(MOST_AT_ONCE);
  private final ExecutorService threads =
      Executors.newCachedThreadPool(work -> {
        Thread thread = new Thread(work, "chaos-client");
        thread.setDaemon(true);
        return thread;
      });

  /**
   * @param findings gets one line for each thing that must not be
   */
  ChaosRun(ChaosPlan plan, Consumer<String> findings) {
    this.plan = plan;
    this.findings = findings;
    report = new ChaosReport(plan);
  }

  /**
   * Runs to the end.
   *
   * @throws IOException if the fleet does not work even before anything is done to it
   */
  ChaosReport run() throws IOException, InterruptedException {
    try (ModelTokenizer tokenizer = ModelTokenizer.embedded();
        ChaosFleet fleet = new ChaosFleet(tokenizer, plan)) {
      fleet.awaitReady();
      Questions questions =
          new Questions(ChaosPlan.MODEL, fleet.referenceUrl(), ChaosPlan.LENGTHS, plan.seed());
      ChaosClient.Patience patience =
          new ChaosClient.Patience(fleet.hungMillis(), fleet.stallMillis());
      try (ChaosClient client = new ChaosClient(fleet.router().port(), patience)) {
        load(fleet, questions, client);
        recover(fleet, questions, client);
      }
      checkLeftovers(fleet);
      return report;
    } finally {
      threads.shutdownNow();
    }
  }

  private void load(ChaosFleet fleet, Questions questions, ChaosClient client)
      throws InterruptedException {
    long start = System.nanoTime();
    List<FaultInjector> injectors = injectors(fleet, start);
    Random random = new Random(plan.seed());
    double due = 0;
    for (int number = 0; due < plan.end(Phase.CHAOS); number++) {
      sleepUntil(start, (long) due);
      Visit visit = new Visit(number, (long) due, plan.phase((long) due), random.nextLong());
      places.acquire();
      threads.execute(() -> visit(fleet, questions, client, visit));
      due -= Math.log(1 - random.nextDouble()) * 1_000 / plan.arrivalsPerSecond((long) due);
    }
    for (FaultInjector injector : injectors) {
      report.begun(injector.await());
    }
    places.acquire(MOST_AT_ONCE); // each comes back: no read waits longer than a hung request
  }

  private List<FaultInjector> injectors(ChaosFleet fleet, long start) {
    List<FaultInjector> injectors = new ArrayList<>();
    List<ChaosEngine> engines = fleet.engines();
    List<FaultPlan> plans =
        FaultPlan.between(
            plan.firstFault(), plan.end(Phase.CHAOS), engines.size(), new Random(~plan.seed()));
    for (int i = 0; i < plans.size(); i++) {
      injectors.add(new FaultInjector(engines.get(i), plans.get(i), start));
    }
    return injectors;
  }

  /** One request of the load. */
  private record Visit(int number, long millis, Phase phase, long seed) {}

  private void visit(ChaosFleet fleet, Questions questions, ChaosClient client, Visit visit) {
    try {
      Random random = new Random(visit.seed);
      ClientBehaviour behaviour = plan.behaviour(visit.phase, random);
      Question question = questions.draw(behaviour, random);
      ChaosVerdict verdict = client.send(question, behaviour, "c" + visit.number, random);
      boolean timed = behaviour == ClientBehaviour.PATIENT && question.streamed();
      report.add(visit.phase, timed, verdict);
      if (verdict.kind() == Kind.HUNG || verdict.kind() == Kind.WRONG) {
        findings.accept(
            "%s: request c%d at %.3f s, seed %d, %s, replica '%s', faults now %s: %s"
                .formatted(
                    verdict.kind(),
                    visit.number,
                    visit.millis / 1e3,
                    plan.seed(),
                    behaviour,
                    verdict.replica(),
                    faults(fleet),
                    verdict.detail()));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      places.release();
    }
  }

  private static String faults(ChaosFleet fleet) {
    return fleet.engines().stream()
        .map(engine -> engine.name() + " " + engine.fault())
        .collect(Collectors.joining(", "));
  }

  private void recover(ChaosFleet fleet, Questions questions, ChaosClient client)
      throws InterruptedException {
    Recovery recovery = new Recovery(fleet, questions, client);
    Set<String> missing = recovery.await(new Random(plan.seed()));
    missing.forEach(engine -> findings.accept("LOST: " + engine + " does not serve again"));
    report.recovered(missing.size(), recovery.millis());
  }

  private void checkLeftovers(ChaosFleet fleet) throws InterruptedException {
    Map<String, Double> left = new Leftovers(fleet).await(Duration.ofMillis(fleet.settleMillis()));
    left.forEach((gauge, value) ->
        findings.accept("LEAKED: %s is %s, seed %d".formatted(gauge, value, plan.seed())));
    report.leaked(left.size());
  }

  private static void sleepUntil(long startNanos, long millis) throws InterruptedException {
    long left = startNanos + TimeUnit.MILLISECONDS.toNanos(millis) - System.nanoTime();
    if (left > 0) {
      TimeUnit.NANOSECONDS.sleep(left);
    }
  }

  /**
   * What is still held at the router and the engines when nobody asks for anything any more.
   *
   * <p>Confined to one thread.
   */
  static final class Leftovers {

    private static final long POLL_MILLIS = 100;
    private static final Pattern GAUGE =
        Pattern.compile(
            "(?m)^(warmpath_(?:requests_serving|queue_requests|request_bodies_bytes|connections"
                + "|tokenizer_waiting|body_scans_waiting|engine_requests_in_flight"
                + "|engine_queued_prefill_tokens|expected_blocks)(?:\\{[^}]*})?) (\\S+)$");

    private final ChaosFleet fleet;
    private final HttpClient http = HttpClient.newHttpClient();

    Leftovers(ChaosFleet fleet) {
      this.fleet = fleet;
    }

    /** Waits until nothing is left, or so long; what is left then, by gauge. */
    Map<String, Double> await(Duration limit) throws InterruptedException {
      Map<String, Double> left = look();
      for (long millis = 0; !left.isEmpty() && millis < limit.toMillis(); millis += POLL_MILLIS) {
        TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
        left = look();
      }
      return left;
    }

    private Map<String, Double> look() throws InterruptedException {
      Map<String, Double> left = new TreeMap<>();
      left.put("RouterProcess.serving", (double) fleet.router().serving());
      for (EngineReport report : fleet.router().dispatcher().report()) {
        Load load = report.state().load();
        left.put(report.engine() + " context tokens", (double) load.contextTokens());
        left.put(report.engine() + " queued prefill ms", load.queuedPrefillMillis());
      }
      for (ChaosEngine engine : fleet.engines()) {
        EngineGauges load = engine.engine().load();
        left.put(engine.name() + " running or waiting", (double) load.running() + load.waiting());
      }
      metrics(left);
      left.values().removeIf(value -> value == 0);
      return left;
    }

    private void metrics(Map<String, Double> to) throws InterruptedException {
      String url = "http://127.0.0.1:" + fleet.router().adminPort() + "/metrics";
      try {
        String page =
            http.send(HttpRequest.newBuilder(URI.create(url)).build(), BodyHandlers.ofString())
                .body();
        Matcher gauges = GAUGE.matcher(page);
        while (gauges.find()) {
          to.put(gauges.group(1), Double.valueOf(gauges.group(2)));
        }
      } catch (IOException e) {
        to.put("no metrics: " + e, 1.0);
      }
    }
  }

  /**
   * Asks round robin, when all faults are healed, until every engine has given a right answer.
   *
   * <p>Confined to one thread; runs once.
   */
  static final class Recovery {

    private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(45); // beyond any ejection
    private static final long PAUSE_MILLIS = 50;

    private final ChaosFleet fleet;
    private final Questions questions;
    private final ChaosClient client;
    private long nanos;

    Recovery(ChaosFleet fleet, Questions questions, ChaosClient client) {
      this.fleet = fleet;
      this.questions = questions;
      this.client = client;
    }

    /** The engines that gave none in time. */
    Set<String> await(Random random) throws InterruptedException {
      fleet.router().dispatcher().policy(Policies.named("round-robin", Map.of()));
      Set<String> missing = new TreeSet<>();
      fleet.engines().stream().map(ChaosEngine::name).forEach(missing::add);
      long start = System.nanoTime();
      for (int number = 0; !missing.isEmpty() && nanos < LIMIT_NANOS; number++) {
        Question question = questions.draw(ClientBehaviour.PATIENT, random);
        ChaosVerdict verdict = client.send(question, ClientBehaviour.PATIENT, "r" + number, random);
        if (verdict.kind() == ChaosVerdict.Kind.COMPLETED) {
          missing.remove(verdict.replica());
        }
        TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
        nanos = System.nanoTime() - start;
      }
      return missing;
    }

    /** How long that took. */
    long millis() {
      return TimeUnit.NANOSECONDS.toMillis(nanos);
    }
  }

  /**
   * Does to one engine what its plan says, on a thread of its own.
   *
   * <p>Thread-safe.
   */
  private static final class FaultInjector {

    private final ChaosEngine engine;
    private final FaultPlan plan;
    private final long startNanos;
    private final Map<EngineFault, Integer> begun = new EnumMap<>(EngineFault.class);
    private final Thread thread;
    private volatile @Nullable RuntimeException failure;

    /**
     * Begins.
     *
     * @param startNanos the run's start, by {@link System#nanoTime}
     */
    FaultInjector(ChaosEngine engine, FaultPlan plan, long startNanos) {
      this.engine = engine;
      this.plan = plan;
      this.startNanos = startNanos;
      thread = new Thread(this::run, "chaos-" + engine.name());
      thread.setDaemon(true);
      thread.start();
    }

    /**
     * Waits until the plan is done and the engine healed; what was begun, by kind.
     *
     * @throws IllegalStateException if the engine could not be healed
     */
    Map<EngineFault, Integer> await() throws InterruptedException {
      thread.join();
      if (failure != null) {
        throw new IllegalStateException(engine.name() + " could not be healed", failure);
      }
      return Map.copyOf(begun);
    }

    private void run() {
      try {
        for (FaultPlan.Timed timed : plan.faults()) {
          sleepUntil(timed.fromMillis());
          engine.begin(timed.fault());
          begun.merge(timed.fault(), 1, Integer::sum);
          sleepUntil(timed.toMillis());
          engine.heal();
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } catch (RuntimeException e) {
        failure = e;
      }
    }

    private void sleepUntil(long millis) throws InterruptedException {
      long left = startNanos + TimeUnit.MILLISECONDS.toNanos(millis) - System.nanoTime();
      if (left > 0) {
        TimeUnit.NANOSECONDS.sleep(left);
      }
    }
  }

  /**
   * The faults of one engine, one after another; those of several engines overlap.
   *
   * @param faults in order of time
   */
  record FaultPlan(List<Timed> faults) {

    private static final int SHORTEST_MILLIS = 300;
    private static final int LONGEST_MILLIS = 4_000;

    /** A fault from one time of the run to another. */
    record Timed(EngineFault fault, long fromMillis, long toMillis) {}

    FaultPlan {
      faults = List.copyOf(faults);
    }

    /**
     * Plans for several engines, between two times. Each kind of fault comes before any comes
     * again, on whichever engine, so that short runs see all of them.
     */
    static List<FaultPlan> between(long fromMillis, long toMillis, int engines, Random random) {
      List<FaultPlan> plans = new ArrayList<>();
      List<EngineFault> left = new ArrayList<>();
      for (int i = 0; i < engines; i++) {
        plans.add(between(fromMillis, toMillis, random, left));
      }
      return plans;
    }

    private static FaultPlan between(
        long fromMillis, long toMillis, Random random, List<EngineFault> left) {
      List<Timed> faults = new ArrayList<>();
      int longest =
          (int) Math.min(LONGEST_MILLIS, 2 * SHORTEST_MILLIS + (toMillis - fromMillis) / 8);
      long at = fromMillis + random.nextInt(longest / 2);
      while (at + SHORTEST_MILLIS < toMillis) {
        if (left.isEmpty()) {
          left.addAll(List.of(EngineFault.values()));
        }
        EngineFault fault = left.remove(random.nextInt(left.size()));
        long end = Math.min(toMillis, at + random.nextInt(SHORTEST_MILLIS, longest));
        faults.add(new Timed(fault, at, end));
        at = end + random.nextInt(longest / 2);
      }
      return new FaultPlan(faults);
    }
  }

  /**
   * Engines that can fail, a router with narrow limits in front of them, and an engine of which the
   * router knows nothing, that tells the right answers.
   *
   * <p>Thread-safe.
   */
  static final class ChaosFleet implements AutoCloseable {

    private static final String ORIGIN = "chaos";
    private static final Duration READY_LIMIT = Duration.ofSeconds(20);
    private static final double REFERENCE_SPEED = 100_000;

    private final LiveEngines launcher;
    private final LiveEngine reference;
    private final List<ChaosEngine> engines = new ArrayList<>();
    private final RouterConfig config;
    private final RouterProcess router;

    ChaosFleet(ModelTokenizer tokenizer, ChaosPlan plan) {
      launcher = new LiveEngines(tokenizer);
      try {
        LiveEngineOptions options = plan.engine();
        reference = launcher.start(options.pace(REFERENCE_SPEED, options.answerTokens()));
        for (int i = 0; i < ChaosPlan.ENGINES; i++) {
          engines.add(new ChaosEngine("engine-" + i, launcher.start(options)));
        }
        config = config();
        router = RouterProcess.start(config);
      } catch (RuntimeException e) {
        launcher.close();
        throw e;
      }
    }

    List<ChaosEngine> engines() {
      return List.copyOf(engines);
    }

    String referenceUrl() {
      return reference.url();
    }

    RouterProcess router() {
      return router;
    }

    void awaitReady() throws InterruptedException {
      FleetPage page = new FleetPage("http://127.0.0.1:" + router.adminPort());
      if (!page.awaitReady(READY_LIMIT)) {
        throw new IllegalStateException("the fleet is not ready: " + page.read());
      }
    }

    /** The longest time that the router lets a client wait without a byte, and then some. */
    int hungMillis() {
      RouterConfig.Timeouts timeouts = config.timeouts();
      int reading = timeouts.requestBodyMs() + 11 * config.tokenizing().deadlineMs();
      int attempt = timeouts.connectMs() + timeouts.firstByteMs() + config.retry().backoffLimitMs();
      int waiting = config.queue().timeoutMs() + config.retry().attempts() * attempt;
      return reading + waiting + timeouts.totalMs() + 5_000; // silence of an engine that is alive
    }

    /** Longer than the router waits for a client that reads nothing. */
    int stallMillis() {
      return config.timeouts().streamIdleMs() + 5_000;
    }

    /** Longest time from a request's last sign of life to the end of all that it left behind. */
    int settleMillis() {
      return hungMillis() + config.timeouts().totalMs() + config.index().expectedTtlMs();
    }

    @Override
    public void close() {
      router.close();
      engines.forEach(ChaosEngine::close);
      launcher.close();
    }

    private RouterConfig config() {
      try {
        ConfigTree tree =
            ConfigTree.empty()
                .put("models", Map.of("name", ChaosPlan.MODEL, "tokenizer", "embedded"), ORIGIN);
        for (Map.Entry<String, Object> setting : SETTINGS.entrySet()) {
          tree = tree.set(setting.getKey(), setting.getValue(), ORIGIN);
        }
        for (ChaosEngine engine : engines) {
          tree = tree.put("replicas", replica(engine), ORIGIN);
        }
        return tree.config();
      } catch (ConfigException e) {
        throw new IllegalStateException("the configuration of the chaos run", e);
      }
    }

    private static final Map<String, Object> SETTINGS =
        Map.ofEntries(
            Map.entry("listen.port", 0),
            Map.entry("admin.port", 0),
            Map.entry("snapshot.enabled", false),
            Map.entry("shutdown.deadline-ms", 2_000),
            Map.entry("health.interval-ms", 250),
            Map.entry("health.timeout-ms", 500),
            Map.entry("timeouts.connect-ms", 500),
            Map.entry("timeouts.request-head-ms", 2_000),
            Map.entry("timeouts.request-body-ms", 2_000),
            Map.entry("timeouts.first-byte-ms", 2_000),
            Map.entry("timeouts.stream-idle-ms", 2_000),
            Map.entry("timeouts.total-ms", 15_000),
            Map.entry("limits.client-buffer-bytes", 4_096),
            Map.entry("limits.requests", 200),
            Map.entry("limits.replica-requests", 6),
            Map.entry("queue.requests", 12),
            Map.entry("queue.timeout-ms", 1_000),
            Map.entry("index.expected-ttl-ms", 5_000));

    private static Map<String, String> replica(ChaosEngine engine) {
      return Map.of(
          "name", engine.name(),
          "url", engine.url(),
          "events", engine.engine().eventsEndpoint(),
          "replay", engine.engine().replayEndpoint());
    }
  }
}
