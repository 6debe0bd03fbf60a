package dev.warmpath.simulator.bench.recovery;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
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
public final class RecoveryBench {

  private static final String MODEL = "bench";
  private static final double READY = 0.99;
  private static final int AHEAD_BATCHES = 200;
  private static final long LIMIT_NANOS = TimeUnit.MINUTES.toNanos(10);
  private static final long POLL_MILLIS = 25;
  private static final int SAMPLE = 200;

  private final long memberships;
  private final Path directory;
  private final int snapshotMillis;
  private final Consumer<String> progress;
  private final List<RecoveryEngine> engines = new ArrayList<>();

  /**
   * @param memberships blocks that all engines together are to hold
   * @param directory for the router's files
   */
  public RecoveryBench(
      long memberships, Path directory, int snapshotMillis, Consumer<String> progress) {
    this.memberships = memberships;
    this.directory = directory;
    this.snapshotMillis = snapshotMillis;
    this.progress = progress;
  }

  /** Runs it with so many engines. */
  public RecoveryReport run(int engineCount) throws IOException, InterruptedException {
    for (int i = 0; i < engineCount; i++) {
      engines.add(new RecoveryEngine(i));
    }
    try (StubReplica replica = new StubReplica(MODEL);
        RouterChild router =
            new RouterChild(directory, MODEL, replicas(replica.url()), snapshotMillis)) {
      return run(router);
    } finally {
      engines.forEach(RecoveryEngine::close);
    }
  }

  private RecoveryReport run(RouterChild router) throws IOException, InterruptedException {
    await(router, "a fresh start", () -> exact(router.fleet()) == engines.size());
    fill(router, memberships);
    await(router, "all events", () -> applied(router, 0));
    long known = truth();
    progress.accept("the router knows %,d of %,d".formatted(named(router.fleet()), known));
    awaitSnapshot(router);
    RecoveryReport.Snapshot snapshot = snapshot(router);
    progress.accept("snapshot taken, more events");
    change(memberships / 200);
    router.kill();
    change(memberships / 2_000);
    progress.accept("killed; starting anew");
    long began = System.nanoTime();
    router.restart();
    double seconds = awaitReady(router, began);
    double cpuSeconds = router.cpuSeconds();
    JsonNode fleet = router.fleet();
    double share = (double) named(fleet) / truth();
    int[] checked = check(router);
    return new RecoveryReport(
        truth(), share, seconds, cpuSeconds, SAMPLE, checked[0], checked[1], snapshot);
  }

  private String replicas(String url) {
    StringBuilder yaml = new StringBuilder();
    for (int i = 0; i < engines.size(); i++) {
      yaml.append(
          "  - {name: e%d, url: '%s', events: 'tcp://127.0.0.1:%d', replay: 'tcp://127.0.0.1:%d', models: [%s]}%n"
              .formatted(i, url, engines.get(i).livePort(), engines.get(i).replayPort(), MODEL));
    }
    return yaml.toString();
  }

  /** Has the engines store until they hold so much, in step with the router. */
  private void fill(RouterChild router, long blocks) throws IOException, InterruptedException {
    long goal = blocks / engines.size();
    boolean more = true;
    while (more) {
      more = false;
      for (RecoveryEngine engine : engines) {
        long until = engine.batches() + AHEAD_BATCHES;
        while (engine.memberships() < goal && engine.batches() < until) {
          engine.store();
        }
        more |= engine.memberships() < goal;
      }
      await(router, "events", () -> applied(router, AHEAD_BATCHES));
    }
  }

  /** Has the engines store so much more, and evict some of what is old. */
  private void change(long blocks) {
    for (RecoveryEngine engine : engines) {
      long goal = engine.memberships() + blocks / engines.size();
      while (engine.memberships() < goal) {
        engine.store();
        engine.store();
        engine.shrink();
      }
    }
  }

  private long truth() {
    return engines.stream().mapToLong(RecoveryEngine::memberships).sum();
  }

  /** Whether the router has applied all but so many batches of each engine. */
  private boolean applied(RouterChild router, int behind) throws InterruptedException {
    JsonNode replicas = router.fleet().path("replicas");
    for (int i = 0; i < engines.size(); i++) {
      long last = events(replicas.path(i)).path("lastSequence").asLong(-1);
      if (last + 1 < engines.get(i).batches() - behind) {
        return false;
      }
    }
    return true;
  }

  private static int exact(JsonNode fleet) {
    int exact = 0;
    for (JsonNode replica : fleet.path("replicas")) {
      exact += isExact(replica) ? 1 : 0;
    }
    return exact;
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
  private void awaitSnapshot(RouterChild router) throws IOException, InterruptedException {
    double before = written(router);
    await(router, "a snapshot", () -> written(router) >= before + 2);
  }

  private static double written(RouterChild router) throws InterruptedException {
    return router.metric("warmpath_snapshot_writes_total{result=\"written\"}");
  }

  private static RecoveryReport.Snapshot snapshot(RouterChild router) throws InterruptedException {
    return new RecoveryReport.Snapshot(
        (long) router.metric("warmpath_snapshot_bytes"),
        router.metric("warmpath_snapshot_pause_seconds"),
        router.metric("warmpath_snapshot_write_seconds"));
  }

  /** Seconds until the router knows enough, and has routed a request by what it knows. */
  private double awaitReady(RouterChild router, long beganNanos)
      throws IOException, InterruptedException {
    RecoveryEngine engine = engines.get(engines.size() - 1);
    String request = body(engine, engine.conversations() - 1);
    await(
        router,
        "the recovery",
        () -> named(router.fleet()) >= READY * truth() && router.route(request) > 0);
    return (System.nanoTime() - beganNanos) / 1e9;
  }

  /** Compares what is believed with what is held: prompts with too much, and with too little. */
  private int[] check(RouterChild router) throws IOException, InterruptedException {
    Random random = new Random(1);
    int over = 0;
    int under = 0;
    for (int i = 0; i < SAMPLE; i++) {
      int number = random.nextInt(engines.size());
      RecoveryEngine engine = engines.get(number);
      int conversation = random.nextInt(engine.conversations());
      int believed = believed(router.explain(body(engine, conversation)), "e" + number);
      int held = engine.held(conversation) * Conversation.BLOCK_TOKENS;
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
    Conversation said = engine.conversation(conversation);
    StringBuilder tokens = new StringBuilder();
    for (int token : said.tokens(0, said.blocks())) {
      tokens.append(token).append(',');
    }
    return "{\"model\":\"%s\",\"prompt\":[%s1],\"max_tokens\":1}".formatted(MODEL, tokens);
  }

  private interface Condition {
    boolean holds() throws InterruptedException;
  }

  private static void await(RouterChild router, String what, Condition condition)
      throws IOException, InterruptedException {
    long deadlineNanos = System.nanoTime() + LIMIT_NANOS;
    while (!condition.holds()) {
      if (!router.isAlive() || System.nanoTime() > deadlineNanos) {
        throw new IllegalStateException("waited in vain for " + what + "\n" + router.output());
      }
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
    }
  }
}
