package dev.warmpath.lab.ingest;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.eventingest.snapshot.SnapshotDirectory;
import dev.warmpath.lab.bench.ChildProcess;
import dev.warmpath.lab.bench.ServedRouter;
import dev.warmpath.lab.gateway.StubServer;
import dev.warmpath.simulator.live.Ports;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;

/**
 * Kills a router that knows much, starts it again, and measures how soon it knows that again.
 *
 * <p>The router is a process of its own and hears real sockets. Behind its last snapshot the
 * engines store and evict, some of it before the router is killed and some of it while nobody
 * listens.
 *
 * <p>Confined to its caller.
 */
final class RecoveryBench {

  private static final String MODEL = "bench";
  private static final double READY = 0.99;
  private static final int AHEAD_BATCHES = 50;
  private static final Duration LIMIT = Duration.ofMinutes(3);
  private static final int SAMPLE = 200;
  private static final int OLDEST_PART = 100;

  private final long memberships;
  private final Path directory;
  private final int snapshotMillis;
  private final Consumer<String> progress;
  private final List<RecoveryEngine> engines = new ArrayList<>();

  /**
   * @param memberships blocks that all engines together hold when their caches are full
   * @param directory for the router's files
   */
  RecoveryBench(long memberships, Path directory, int snapshotMillis, Consumer<String> progress) {
    this.memberships = memberships;
    this.directory = directory;
    this.snapshotMillis = snapshotMillis;
    this.progress = progress;
  }

  /** Runs it with so many engines. */
  RecoveryReport run(int engineCount) throws IOException, InterruptedException {
    return run(engineCount, memberships / engineCount);
  }

  /**
   * @param gpuBlocks how many blocks each engine has room for, by its metrics
   */
  RecoveryReport run(int engineCount, long gpuBlocks) throws IOException, InterruptedException {
    for (int i = 0; i < engineCount; i++) {
      engines.add(new RecoveryEngine(i, (int) (memberships / engineCount)));
    }
    try (StubServer stub = new StubServer(MODEL, Collections.nCopies(engineCount, 0), gpuBlocks)) {
      List<Ports> replicas = new ArrayList<>();
      for (int i = 0; i < engineCount; i++) {
        replicas.add(engines.get(i).ports(stub.ports().get(i)));
      }
      RecoveryReport.Snapshot snapshot = fillAndKill(replicas);
      change(memberships / 2_000);
      progress.accept("killed; starting anew");
      return recover(replicas, snapshot);
    } finally {
      engines.forEach(RecoveryEngine::close);
    }
  }

  private RecoveryReport.Snapshot fillAndKill(List<Ports> replicas)
      throws IOException, InterruptedException {
    for (Path old : SnapshotDirectory.open(directory.resolve("data")).snapshots()) {
      Files.delete(old); // of an earlier run, and so of other engines
    }
    try (ServedRouter router = router(replicas, "router.log")) {
      await(router, "a fresh start", () -> isKnown(router.fleet()));
      fill(router);
      await(router, "all events", () -> applied(router, 0) && !anyCatchesUp(router.fleet()));
      requireKnown(router.fleet());
      awaitSnapshot(router);
      RecoveryReport.Snapshot snapshot = snapshot(router);
      progress.accept("snapshot taken, more events");
      change(memberships / 200);
      router.kill();
      return snapshot;
    }
  }

  private RecoveryReport recover(List<Ports> replicas, RecoveryReport.Snapshot snapshot)
      throws IOException, InterruptedException {
    long began = System.nanoTime();
    try (ServedRouter router = router(replicas, "restarted-router.log")) {
      awaitReady(router);
      double seconds = (System.nanoTime() - began) / 1e9;
      double cpuSeconds = cpuSeconds(router.pid());
      double share = (double) named(router.fleet()) / truth();
      int[] checked = check(router);
      return new RecoveryReport(
          truth(), share, seconds, cpuSeconds, SAMPLE, checked[0], checked[1], snapshot);
    }
  }

  private ServedRouter router(List<Ports> replicas, String log) throws IOException {
    List<String> flags = new ArrayList<>();
    for (String set :
        List.of(
            "headers.cached-tokens=true",
            "parity.enabled=false",
            "health.interval-ms=500",
            "health.timeout-ms=5000",
            "health.metrics-interval-ms=1000",
            "health.fall=20",
            "snapshot.enabled=true",
            "snapshot.dir=" + directory.resolve("data"),
            "snapshot.interval-ms=" + snapshotMillis,
            "snapshot.max-pause-ms=30000")) {
      flags.addAll(List.of("--set", set));
    }
    return new ServedRouter(MODEL, replicas, "embedded", flags, directory.resolve(log));
  }

  /** What a process has computed so far; NaN where the system does not say. */
  private static double cpuSeconds(long pid) {
    return ProcessHandle.of(pid)
        .flatMap(process -> process.info().totalCpuDuration())
        .map(duration -> duration.toMillis() / 1e3)
        .orElse(Double.NaN);
  }

  /** Has the engines serve until their caches are full, in step with the router. */
  private void fill(ServedRouter router) throws IOException, InterruptedException {
    while (!engines.stream().allMatch(RecoveryEngine::isFull)) {
      for (RecoveryEngine engine : engines) {
        long until = engine.batches() + AHEAD_BATCHES;
        while (!engine.isFull() && engine.batches() < until) {
          engine.serve();
        }
      }
      await(router, "events", () -> applied(router, AHEAD_BATCHES));
    }
  }

  /** Has the engines store so much more, and evict as much. */
  private void change(long blocks) {
    for (RecoveryEngine engine : engines) {
      long goal = engine.storedBlocks() + blocks / engines.size();
      while (engine.storedBlocks() < goal) {
        engine.serve();
      }
    }
  }

  private long truth() {
    return engines.stream().mapToLong(RecoveryEngine::memberships).sum();
  }

  /** Without this there would be nothing to recover. */
  private void requireKnown(JsonNode fleet) throws IOException {
    String message = "the router knows %,d of %,d blocks".formatted(named(fleet), truth());
    if (named(fleet) < READY * truth()) {
      throw new IOException(message + ", so that there is nothing to recover:" + doubts(fleet));
    }
    progress.accept(message);
  }

  /** Of which engines what is known is not believed, and why. */
  private static String doubts(JsonNode fleet) {
    StringBuilder doubts = new StringBuilder();
    for (JsonNode replica : fleet.path("replicas")) {
      if (!isExact(replica)) {
        doubts.append(
            "%n  %s is %s, its events %s: %s"
                .formatted(
                    replica.path("name").asText(),
                    replica.path("health").asText(),
                    events(replica).path("trust").asText(),
                    events(replica).path("reason").asText()));
      }
    }
    return doubts.toString();
  }

  private static boolean anyCatchesUp(JsonNode fleet) {
    for (JsonNode replica : fleet.path("replicas")) {
      if (events(replica).path("trust").asText().equals("catching_up")) {
        return true;
      }
    }
    return false;
  }

  /** Whether the router has applied all but so many batches of each engine. */
  private boolean applied(ServedRouter router, int behind) throws InterruptedException {
    JsonNode replicas = router.fleet().path("replicas");
    for (int i = 0; i < engines.size(); i++) {
      long last = events(replicas.path(i)).path("lastSequence").asLong(-1);
      if (last + 1 < engines.get(i).batches() - behind) {
        return false;
      }
    }
    return true;
  }

  /** Whether all engines are followed, and what their metrics say is known. */
  private boolean isKnown(JsonNode fleet) {
    int known = 0;
    for (JsonNode replica : fleet.path("replicas")) {
      known += isExact(replica) && replica.path("gpuBlocks").asLong() > 0 ? 1 : 0;
    }
    return known == engines.size();
  }

  /** Whether requests are sent there by what is known. */
  private static boolean isExact(JsonNode replica) {
    return replica.path("health").asText().equals("up")
        && events(replica).path("trust").asText().equals("exact");
  }

  private static JsonNode events(JsonNode replica) {
    return replica.path("engines").path(0).path("events");
  }

  /** Blocks that the router knows of engines that are up and that it trusts. */
  private static long named(JsonNode fleet) {
    long named = 0;
    for (JsonNode replica : fleet.path("replicas")) {
      if (isExact(replica)) {
        named += replica.path("engines").path(0).path("index").path("namedBlocks").asLong();
      }
    }
    return named;
  }

  /** Waits for a snapshot that was begun after this call. */
  private void awaitSnapshot(ServedRouter router) throws IOException, InterruptedException {
    double before = written(router);
    await(router, "a snapshot", () -> written(router) >= before + 2);
  }

  private static double written(ServedRouter router) throws IOException, InterruptedException {
    return router.metric("warmpath_snapshot_writes_total{result=\"written\"}");
  }

  private static RecoveryReport.Snapshot snapshot(ServedRouter router)
      throws IOException, InterruptedException {
    return new RecoveryReport.Snapshot(
        (long) router.metric("warmpath_snapshot_bytes "),
        router.metric("warmpath_snapshot_pause_seconds "),
        router.metric("warmpath_snapshot_write_seconds "));
  }

  /** Waits until the router knows enough, and has routed a request by what it knows. */
  private void awaitReady(ServedRouter router) throws IOException, InterruptedException {
    RecoveryEngine engine = engines.get(engines.size() - 1);
    String request = body(engine, engine.conversations() - 1);
    try {
      await(
          router,
          "the recovery",
          () -> named(router.fleet()) >= READY * truth() && isRoutedByPrefix(router, request));
    } catch (IOException e) {
      throw new IOException(e.getMessage() + doubts(router.fleet()), e);
    }
  }

  private static boolean isRoutedByPrefix(ServedRouter router, String body)
      throws InterruptedException {
    try {
      HttpResponse<String> response = router.complete(body);
      String tokens = response.headers().firstValue("x-warmpath-cached-tokens").orElse("0");
      return response.statusCode() == 200 && !tokens.equals("0");
    } catch (IOException e) {
      return false; // nobody listens yet
    }
  }

  /**
   * Compares what is believed with what is held, half of it of the oldest conversations: prompts
   * with too much, and with too little.
   */
  private int[] check(ServedRouter router) throws IOException, InterruptedException {
    Random random = new Random(1);
    int over = 0;
    int under = 0;
    for (int i = 0; i < SAMPLE; i++) {
      int number = random.nextInt(engines.size());
      RecoveryEngine engine = engines.get(number);
      int among = engine.conversations();
      int conversation = random.nextInt(i % 2 == 0 ? among : Math.max(1, among / OLDEST_PART));
      int believed = believed(router.explain(body(engine, conversation)), "replica-" + number);
      int held = engine.heldTokens(conversation);
      over += believed > held ? 1 : 0;
      under += believed < held ? 1 : 0;
    }
    return new int[] {over, under};
  }

  private static int believed(JsonNode explanation, String name) {
    for (JsonNode engine : explanation.path("engines")) {
      if (engine.path("engine").asText().equals(name)) {
        return engine.required("matchedTokens").asInt();
      }
    }
    throw new IllegalStateException(name + " is not in " + explanation);
  }

  /** A request with a whole conversation and a word more. */
  private static String body(RecoveryEngine engine, int conversation) {
    StringBuilder tokens = new StringBuilder();
    for (int token : engine.tokens(conversation)) {
      tokens.append(token).append(',');
    }
    return "{\"model\":\"%s\",\"prompt\":[%s1],\"max_tokens\":1}".formatted(MODEL, tokens);
  }

  private static void await(ServedRouter router, String what, ChildProcess.Condition condition)
      throws IOException, InterruptedException {
    router.await(what, LIMIT, condition);
  }

  /**
   * What a bench of recovery has found.
   *
   * @param memberships blocks that the engines hold at the end, each engine's counted
   * @param recoveredShare part of them that the new router knows when it is ready
   * @param secondsToReady from the start of its process until it knows 99 % and routes by it
   * @param cpuSecondsToReady what its process computed in that time; NaN where the system does not
   *     say
   * @param checkedPrompts conversations of which its answer was compared with what the engine holds
   * @param overCredits prompts of the sample of which it believes more than the engine holds
   * @param underCredits prompts of the sample of which it believes less
   */
  record RecoveryReport(
      long memberships,
      double recoveredShare,
      double secondsToReady,
      double cpuSecondsToReady,
      int checkedPrompts,
      int overCredits,
      int underCredits,
      Snapshot snapshot) {

    /** The last snapshot before the router was killed. */
    record Snapshot(long bytes, double pauseSeconds, double writeSeconds) {}
  }
}
