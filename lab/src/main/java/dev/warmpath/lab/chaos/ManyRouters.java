package dev.warmpath.lab.chaos;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.lab.bench.BenchOutput;
import dev.warmpath.lab.bench.ChildProcess;
import dev.warmpath.lab.bench.JavaCommand;
import dev.warmpath.lab.bench.LoopbackPorts;
import dev.warmpath.lab.chaos.RoutersReport.Scene;
import dev.warmpath.router.cli.Main;
import dev.warmpath.router.security.Secrets;
import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.EngineGauges;
import dev.warmpath.simulator.engine.KvCacheConfig;
import dev.warmpath.simulator.engine.StepCost;
import dev.warmpath.simulator.live.LiveEngine;
import dev.warmpath.simulator.live.LiveEngineOptions;
import dev.warmpath.simulator.live.LiveEngines;
import dev.warmpath.simulator.live.PublisherOptions;
import dev.warmpath.tokenizer.ModelTokenizer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Several routers in processes of their own, of one mind, before simulated engines and under load:
 * one is killed and started again, one stands still, the network between them is cut, their Redis
 * dies. Held to this: no request fails but those in flight on the killed process; none of them
 * stops being ready; soon after each of these all agree again, with each other and with what the
 * engines really have in flight.
 *
 * <p>Confined to one thread; runs once.
 */
final class ManyRouters implements AutoCloseable {

  static final Path REDIS = Path.of("/usr/bin/redis-server");

  private static final String MODEL = "warmpath-chaos";
  private static final int ENGINES = 3;
  private static final int BLOCK_TOKENS = 16;
  private static final int BLOCKS = 20_000; // nothing is evicted
  private static final int RUNNING = 64;
  private static final double STEP_MILLIS = 50;
  private static final int ANSWER_TOKENS = 24; // 1.2 s
  private static final int REPLAY_BATCHES = 8; // far less than the index came from
  private static final List<String> JAVA =
      List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");

  private static final Duration START_LIMIT = Duration.ofSeconds(90);
  private static final Duration ANSWER_LIMIT = Duration.ofSeconds(5);

  /** How much later than by recovery a cut may be noticed: by silence, and a new view. */
  private static final Duration NOTICED_BEHIND = Duration.ofSeconds(3);

  private static final long STILL_MILLIS = 15;
  private static final double LEAST_SHARE = 0.99;
  private static final ObjectMapper JSON = new ObjectMapper();

  /**
   * How long it takes.
   *
   * @param fill requests from which the index comes
   * @param stopSeconds for which a router stands still
   * @param cutSeconds for which the network is cut, and Redis is dead
   * @param calmSeconds of load after each fault
   * @param recovery after the end of a fault all agree in this time
   */
  record Form(
      int routers,
      int fill,
      double perSecond,
      int stopSeconds,
      int cutSeconds,
      int calmSeconds,
      Duration recovery) {

    Form {
      if (routers < 3 || routers > 8) {
        throw new IllegalArgumentException("3 to 8 routers");
      }
    }

    static Form whole(int routers) {
      return new Form(routers, 400, 10, 30, 12, 2, Duration.ofSeconds(5));
    }

    /** The same beside other work, which takes processors from it. */
    Form patient() {
      return new Form(
          routers,
          fill,
          perSecond / 2,
          stopSeconds,
          cutSeconds,
          calmSeconds,
          recovery.multipliedBy(4));
    }

    static Form brief(int routers) {
      return new Form(routers, 100, 8, 6, 5, 1, Duration.ofSeconds(5));
    }
  }

  /** One of the routers. */
  private final class Router implements AutoCloseable {
    final FailoverLoad.Target target;
    final int adminPort = LoopbackPorts.free();
    final Path config;
    final List<String> java = new ArrayList<>(JAVA);
    private int starts;
    private @Nullable ChildProcess process;

    Router(int number) throws IOException {
      target = new FailoverLoad.Target("router-" + number, LoopbackPorts.free());
      config = folder.resolve(target.name() + ".yaml");
    }

    void start() throws IOException {
      target.starts();
      Path log = folder.resolve("%s-%d.log".formatted(target.name(), starts++));
      List<String> serve = List.of("serve", "--config", config.toString());
      process = ChildProcess.start(target.name(), JavaCommand.with(java, Main.class, serve), log);
    }

    ChildProcess process() {
      if (process == null) {
        throw new IllegalStateException(target.name() + " was not started");
      }
      return process;
    }

    JsonNode admin(String path) throws IOException, InterruptedException {
      return get("http://127.0.0.1:" + adminPort + path);
    }

    /** Blocks that it knows each engine to hold. */
    long[] heldBlocks() throws IOException, InterruptedException {
      return ofEngines("/index/heldBlocks");
    }

    /** Requests that it counts at each engine, its own and those of the others. */
    long[] inFlight() throws IOException, InterruptedException {
      return ofEngines("/requestsInFlight");
    }

    private long[] ofEngines(String figure) throws IOException, InterruptedException {
      JsonNode replicas = admin("/admin/fleet").path("replicas");
      long[] all = new long[ENGINES];
      for (JsonNode replica : replicas) {
        int number = Integer.parseInt(replica.path("name").asText().replaceAll("\\D", ""));
        all[number] = replica.path("engines").path(0).at(figure).asLong();
      }
      return all;
    }

    /** The others that it cannot reach, or of which it does not know all. */
    @Nullable String missing(Set<String> others) throws IOException, InterruptedException {
      Set<String> known = new TreeSet<>();
      for (JsonNode other : admin("/admin/cluster").path("routers")) {
        boolean isKnown = other.path("reachable").asBoolean() && other.path("inStep").asBoolean();
        known.add(other.path("name").asText() + (isKnown ? "" : " (not in step)"));
      }
      return known.equals(others) ? null : target.name() + " knows " + known;
    }

    @Override
    public void close() {
      if (process != null) {
        process.resume();
        process.close();
      }
    }
  }

  private final Form form;
  private final boolean overRedis;
  private final RoutersReport report;
  private final Path folder = BenchOutput.temporaryFolder("warmpath-routers");
  private final HttpClient http =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(ANSWER_LIMIT)
          .build();
  private final ModelTokenizer tokenizer = ModelTokenizer.embedded();
  private final LiveEngines launcher = new LiveEngines(tokenizer);
  private final List<LiveEngine> engines = new ArrayList<>();
  private final Wires wires = new Wires();
  private final List<Router> routers = new ArrayList<>();
  private final int redisPort = LoopbackPorts.free();
  private @Nullable ChildProcess redis;
  private int redisStarts;

  /**
   * Starts all.
   *
   * @param overRedis through a Redis server of its own, not by a mesh
   * @param findings gets one line for each thing that must not be
   */
  ManyRouters(Form form, boolean overRedis, Consumer<String> findings) throws IOException {
    this.form = form;
    this.overRedis = overRedis;
    report = new RoutersReport(overRedis ? "redis" : "mesh", findings);
    try {
      for (int i = 0; i < ENGINES; i++) {
        engines.add(launcher.start(engine()));
      }
      if (overRedis) {
        startRedis();
      }
      startRouters();
    } catch (IOException | RuntimeException e) {
      close();
      throw e;
    }
  }

  private static LiveEngineOptions engine() {
    KvCacheConfig cache = KvCacheConfig.fullAttention(BLOCK_TOKENS, BLOCKS);
    EngineConfig config =
        new EngineConfig(cache, 4_096, RUNNING, 4_096, new StepCost(STEP_MILLIS, 0.02, 0, 0));
    LiveEngineOptions options = LiveEngineOptions.of(MODEL, config);
    PublisherOptions events = PublisherOptions.DEFAULT.withBuffer(REPLAY_BATCHES);
    return options.with(events, options.hashing());
  }

  private void startRedis() throws IOException {
    List<String> command =
        List.of(
            REDIS.toString(),
            "--port",
            Integer.toString(redisPort),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--appendonly",
            "no",
            "--dir",
            folder.toString());
    redis =
        ChildProcess.start(
            "Redis", command, folder.resolve("redis-%d.log".formatted(redisStarts++)));
  }

  private void startRouters() throws IOException {
    Path secret = folder.resolve("secret");
    Files.writeString(secret, Secrets.fresh());
    List<Integer> before = new ArrayList<>();
    List<Integer> meshPorts = new ArrayList<>();
    for (int i = 0; i < form.routers(); i++) {
      routers.add(new Router(i));
      meshPorts.add(LoopbackPorts.free());
      before.add(
          overRedis ? wires.beforeServer(i, redisPort) : wires.beforeRouter(i, meshPorts.get(i)));
    }
    for (int i = 0; i < form.routers(); i++) {
      Router router = routers.get(i);
      String cluster =
          overRedis ? redis(before.get(i)) : mesh(secret, meshPorts.get(i), without(before, i));
      Files.writeString(router.config, config(router, cluster));
      // Under this address others know it: that of the wires before it.
      router.java.add("-Djgroups.external_addr=127.0.0.1");
      router.java.add("-Djgroups.external_port=" + before.get(i));
      router.start();
    }
  }

  private static List<String> without(List<Integer> ports, int number) {
    List<String> others = new ArrayList<>();
    for (int i = 0; i < ports.size(); i++) {
      if (i != number) {
        others.add("\"127.0.0.1:" + ports.get(i) + "\"");
      }
    }
    return others;
  }

  private static String mesh(Path secret, int port, List<String> peers) {
    return "mode: mesh, secret-file: %s, host: 127.0.0.1, port: %d, peers: [%s]"
        .formatted(secret, port, String.join(", ", peers));
  }

  private static String redis(int port) {
    return "mode: redis, redis-url: \"redis://127.0.0.1:%d\"".formatted(port);
  }

  private String config(Router router, String cluster) {
    StringBuilder yaml =
        new StringBuilder(
            """
            listen: {port: %d}
            admin: {port: %d}
            snapshot: {enabled: false}
            shutdown: {deadline-ms: 1000}
            warm-up: {seconds: 0}
            tokenizing: {deadline-ms: 5000} # processes start cold, all at once
            models: [{name: %s, tokenizer: embedded}]
            cluster: {member: %s, %s}
            replicas:
            """
                .formatted(
                    router.target.port(), router.adminPort, MODEL, router.target.name(), cluster));
    for (int i = 0; i < ENGINES; i++) {
      LiveEngine engine = engines.get(i);
      yaml.append(
          "  - {name: engine-%d, url: \"%s\", events: \"%s\", replay: \"%s\"}\n"
              .formatted(i, engine.url(), engine.eventsEndpoint(), engine.replayEndpoint()));
    }
    return yaml.toString();
  }

  /**
   * Plays all scenes.
   *
   * @throws IOException if a router does not start, or ends by itself
   */
  RoutersReport run() throws IOException, InterruptedException {
    List<FailoverLoad.Target> targets = routers.stream().map(router -> router.target).toList();
    try (FailoverLoad load = new FailoverLoad(MODEL, targets, report, ANSWER_TOKENS)) {
      for (Router router : routers) {
        router.process().await("readiness", START_LIMIT, router.target::isInRotation);
      }
      recover(report.now(), routers, START_LIMIT);
      load.fill(form.fill(), 2 * ENGINES);
      load.begin(form.perSecond());
      recover(report.begin("calm"), routers, form.recovery());
      TimeUnit.SECONDS.sleep(form.calmSeconds() + 1);
      Router victim = routers.get(1);
      kill(victim);
      startAgain(victim);
      standStill(routers.get(2));
      cut();
      if (overRedis) {
        killRedis();
      }
      end(load);
    }
    for (Router router : routers) {
      router.process().requireAlive();
    }
    return report;
  }

  /** The others drop what it had booked. */
  private void kill(Router victim) throws IOException, InterruptedException {
    Scene scene = report.begin("kill");
    int most = victim.target.inFlight();
    victim.target.dies();
    victim.process().kill();
    recover(scene, others(victim), form.recovery());
    TimeUnit.SECONDS.sleep(form.calmSeconds());
    most += (int) form.perSecond(); // what was sent between both lines before
    scene.check(scene.lost() <= most, scene.lost() + " were lost where at most " + most + " were");
  }

  /** It has an index before it is ready, although no engine can replay what that came from. */
  private void startAgain(Router victim) throws IOException, InterruptedException {
    Scene scene = report.begin("startAgain");
    victim.process().close();
    victim.start();
    victim.process().await("readiness", START_LIMIT, victim.target::isInRotation);
    long ready = System.nanoTime();
    long neighbours = Arrays.stream(routers.get(0).heldBlocks()).sum();
    double share = (double) Arrays.stream(victim.heldBlocks()).sum() / neighbours;
    String seed =
        get("http://127.0.0.1:" + victim.target.port() + "/health/ready")
            .path("seed")
            .asText("none");
    report.seeded(seed, share);
    scene.check(seed.equals("seeded"), "its start from a neighbour: " + seed);
    awaitOrFail(
        scene,
        form.recovery(),
        () -> {
          long all = Arrays.stream(routers.get(0).heldBlocks()).sum();
          long held = Arrays.stream(victim.heldBlocks()).sum();
          return held >= LEAST_SHARE * all ? null : "it holds %d of %d blocks".formatted(held, all);
        });
    recover(scene, routers, form.recovery(), ready);
    TimeUnit.SECONDS.sleep(form.calmSeconds());
  }

  /** As in a long pause of its machine; what was sent to it is answered afterwards. */
  private void standStill(Router router) throws IOException, InterruptedException {
    Scene scene = report.begin("standStill");
    router.process().suspend();
    TimeUnit.SECONDS.sleep(form.stopSeconds());
    router.process().resume();
    recover(scene, routers, form.recovery());
    TimeUnit.SECONDS.sleep(form.calmSeconds());
  }

  /** The first router and half of the others, or the server, no longer hear of each other. */
  private void cut() throws IOException, InterruptedException {
    Scene scene = report.begin("cut");
    Router alone = routers.get(0);
    long begin = System.nanoTime();
    wires.cut(Set.of(0));
    awaitOrFail(
        scene,
        form.recovery().plus(NOTICED_BEHIND),
        () -> {
          for (JsonNode other : alone.admin("/admin/cluster").path("routers")) {
            if (other.path("reachable").asBoolean()) {
              return "nobody noticed the cut";
            }
          }
          return null;
        });
    long rest = TimeUnit.SECONDS.toNanos(form.cutSeconds()) - (System.nanoTime() - begin);
    TimeUnit.NANOSECONDS.sleep(rest);
    wires.heal();
    recover(scene, routers, form.recovery());
    TimeUnit.SECONDS.sleep(form.calmSeconds());
  }

  /** All go on alone, and together when it is back. */
  private void killRedis() throws IOException, InterruptedException {
    Scene scene = report.begin("killRedis");
    if (redis != null) {
      redis.kill();
      redis.close();
    }
    TimeUnit.SECONDS.sleep(form.cutSeconds());
    startRedis();
    recover(scene, routers, form.recovery());
    TimeUnit.SECONDS.sleep(form.calmSeconds());
  }

  /** Nothing is left of all that. */
  private void end(FailoverLoad load) throws IOException, InterruptedException {
    Scene scene = report.begin("end");
    load.end();
    long begin = System.nanoTime();
    String left =
        awaitOrFail(
            scene,
            form.recovery(),
            () -> {
              long[] none = new long[ENGINES];
              for (Router router : routers) {
                long[] counted = router.inFlight();
                if (!Arrays.equals(counted, none)) {
                  return "%s counts %s at the end"
                      .formatted(router.target.name(), Arrays.toString(counted));
                }
              }
              return disagreement(routers);
            });
    if (left == null) {
      scene.recovered(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin));
    }
  }

  private List<Router> others(Router than) {
    return routers.stream().filter(router -> router != than).toList();
  }

  // ── whether they agree ──

  private void recover(Scene scene, List<Router> alive, Duration limit)
      throws IOException, InterruptedException {
    recover(scene, alive, limit, System.nanoTime());
  }

  private void recover(Scene scene, List<Router> alive, Duration limit, long since)
      throws IOException, InterruptedException {
    if (awaitOrFail(scene, limit, () -> disagreement(alive)) == null) {
      scene.recovered(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - since));
    }
  }

  /** Null if all is well, else what is not; empty if that cannot be told now. */
  private interface Look {
    @Nullable String problem() throws IOException, InterruptedException;
  }

  /** Null when all was well in time. */
  private @Nullable String awaitOrFail(Scene scene, Duration limit, Look look)
      throws IOException, InterruptedException {
    long begin = System.nanoTime();
    String last = "nothing stood still for a moment";
    while (true) {
      String problem = look.problem();
      if (problem == null) {
        return null;
      }
      last = problem.isEmpty() ? last : problem;
      if (System.nanoTime() - begin > limit.toNanos()) {
        scene.fail("after %d ms: %s".formatted(limit.toMillis(), last));
        return last;
      }
      TimeUnit.MILLISECONDS.sleep(STILL_MILLIS);
    }
  }

  /**
   * What they disagree about, with each other or with the engines. They are looked at one after the
   * other: it says something only if nothing began or ended meanwhile.
   */
  private @Nullable String disagreement(List<Router> alive)
      throws IOException, InterruptedException {
    Set<String> names = new TreeSet<>();
    alive.forEach(router -> names.add(router.target.name()));
    for (Router router : alive) {
      Set<String> others = new TreeSet<>(names);
      others.remove(router.target.name());
      String missing = router.missing(others);
      if (missing != null) {
        return missing;
      }
    }
    long[] real = really();
    TimeUnit.MILLISECONDS.sleep(STILL_MILLIS);
    for (Router router : alive) {
      long[] counted = router.inFlight();
      if (!Arrays.equals(counted, real)) {
        return Arrays.equals(real, really())
            ? "%s counts %s where the engines have %s"
                .formatted(router.target.name(), Arrays.toString(counted), Arrays.toString(real))
            : "";
      }
    }
    return Arrays.equals(real, really()) ? null : "";
  }

  /** Requests at each engine, as it says itself. */
  private long[] really() {
    long[] all = new long[ENGINES];
    for (int i = 0; i < ENGINES; i++) {
      EngineGauges load = engines.get(i).load();
      all[i] = (long) load.running() + load.waiting();
    }
    return all;
  }

  private JsonNode get(String url) throws IOException, InterruptedException {
    HttpRequest request = HttpRequest.newBuilder(URI.create(url)).timeout(ANSWER_LIMIT).build();
    return JSON.readTree(http.send(request, BodyHandlers.ofString()).body());
  }

  @Override
  public void close() {
    routers.forEach(Router::close);
    if (redis != null) {
      redis.close();
    }
    wires.close();
    launcher.close();
    tokenizer.close();
  }
}
