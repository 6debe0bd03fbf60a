package dev.warmpath.router.health;

import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.fleet.EngineEvents;
import dev.warmpath.router.fleet.Fleet;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.upstream.EngineClient;
import dev.warmpath.router.upstream.Upstreams;
import io.netty.channel.ConnectTimeoutException;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClosedException;
import java.net.UnknownHostException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks every replica at an interval whether it is well, over connections of its own so that load
 * does not starve the checks, what models it serves, and what its metrics say of its lifetime. A
 * replica's models are known before it comes up.
 *
 * <p>Confined to its event loop.
 */
public final class HealthChecker extends VerticleBase {

  private static final Logger LOG = LoggerFactory.getLogger(HealthChecker.class);
  private static final int CONNECTIONS_PER_REPLICA = 2;

  /** Between two looks whether metrics are to be read again. */
  private static final int OFF_MS = 1_000;

  private static final int ANSWER_LIMIT_BYTES = 4 << 20;

  /** A replica that is up is asked for its models at every so many checks. */
  private static final int CHECKS_A_LIST = 5;

  private final Supplier<RouterConfig> config;
  private final Fleet fleet;
  private final Upstreams upstreams;
  private final ModelCatalog catalog;
  private final Function<Replica, String> healthPath;
  private final Map<Replica, Checked> checked = new HashMap<>();
  private final EngineEvents engineEvents;
  private final LongSupplier nanoClock;

  /** How a replica stood when it was looked at last. */
  private static final class Checked {
    private final Streak streak;
    private final RestartDetector restarts;
    private final OtherLoadWatch others;
    private boolean asking;
    private int checks;

    Checked(Streak streak, RestartDetector restarts, OtherLoadWatch others) {
      this.streak = streak;
      this.restarts = restarts;
      this.others = others;
    }
  }

  private long timer = -1;
  private long metricsTimer = -1;
  private @Nullable EngineClient client;

  /**
   * Checks the replicas of {@code fleet}.
   *
   * @param healthPath the path that tells the health of a replica by its status
   * @param engineEvents told what the replicas' health and metrics give away of their lifetimes and
   *     caches
   * @param nanoClock the clock that {@link Replica#responded} is told
   */
  public HealthChecker(
      Supplier<RouterConfig> config,
      Fleet fleet,
      Upstreams upstreams,
      ModelCatalog catalog,
      Function<Replica, String> healthPath,
      EngineEvents engineEvents,
      LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
    this.config = config;
    this.engineEvents = engineEvents;
    this.fleet = fleet;
    this.upstreams = upstreams;
    this.catalog = catalog;
    this.healthPath = healthPath;
  }

  @Override
  public Future<?> start() {
    client =
        upstreams.newClient(
            "health",
            new EngineClient.Limits(
                () -> config.get().health().timeoutMs(),
                CONNECTIONS_PER_REPLICA,
                ANSWER_LIMIT_BYTES));
    checks();
    looks();
    return Future.succeededFuture();
  }

  private void checks() {
    timer = vertx.setTimer(config.get().health().intervalMs(), id -> checks());
    checkAll();
  }

  private void looks() {
    int interval = config.get().health().metricsIntervalMs();
    metricsTimer = vertx.setTimer(interval > 0 ? interval : OFF_MS, id -> looks());
    if (interval > 0) {
      watchAll();
    } else {
      checked.values().forEach(state -> state.others.forget());
    }
  }

  @Override
  public Future<?> stop() {
    vertx.cancelTimer(timer);
    vertx.cancelTimer(metricsTimer);
    return client == null ? Future.succeededFuture() : client.close();
  }

  private void checkAll() {
    checked.keySet().retainAll(fleet.replicas());
    for (Replica replica : fleet.replicas()) {
      Checked state = checked(replica);
      if (!state.asking) {
        state.asking = true;
        check(replica, state.checks++ % CHECKS_A_LIST == 0);
      }
    }
  }

  private Checked checked(Replica replica) {
    return checked.computeIfAbsent(
        replica,
        r ->
            new Checked(new Streak(), new RestartDetector(r, engineEvents), new OtherLoadWatch(r)));
  }

  private void check(Replica replica, boolean turnForModels) {
    boolean asksModels = turnForModels || replica.health() == Replica.Health.DOWN;
    get(replica, healthPath.apply(replica))
        .compose(body -> asksModels ? models(replica) : Future.succeededFuture())
        .onComplete(done -> {
          Checked state = checked.get(replica);
          if (state != null) {
            state.asking = false;
            judge(replica, state, done.cause());
          }
        });
  }

  /**
   * Counts a check for or against the replica. An unanswered one does not count against a replica
   * that responds to requests: it is busy, not dead.
   *
   * @param failure null if the check passed
   */
  private void judge(Replica replica, Checked state, @Nullable Throwable failure) {
    Replica.Check found = failure == null ? Replica.Check.PASSED : kind(failure);
    replica.checked(found);
    boolean good =
        found == Replica.Check.PASSED
            || (found == Replica.Check.UNANSWERED && replica.isResponding(nanoClock.getAsLong()));
    RouterConfig.Health now = config.get().health();
    judge(replica, state.streak.after(good, now.rise(), now.fall()));
  }

  private static Replica.Check kind(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof TimeoutException
          || cause instanceof ConnectTimeoutException
          || cause instanceof UnknownHostException) {
        return Replica.Check.UNANSWERED;
      }
    }
    return Replica.Check.FAILED;
  }

  /** Reads every replica's metrics; one that does not answer is left as it is. */
  private void watchAll() {
    for (Replica replica : fleet.replicas()) {
      Checked state = checked(replica);
      state.others.asks();
      get(replica, "/metrics")
          .onSuccess(page -> saw(replica, state, EngineMetrics.read(page.getBytes())))
          .onFailure(e -> state.others.missed());
    }
  }

  private void saw(Replica replica, Checked state, EngineMetrics metrics) {
    replica.metricsRead(nanoClock.getAsLong());
    state.restarts.saw(metrics);
    LearnedLimit.saw(replica, metrics, config.get().limits().engineWaiting());
    state.others.saw(metrics, config.get().health().otherLoad());
  }

  /** Asks for the models; a replica without an answer to that keeps what was configured. */
  private Future<Void> models(Replica replica) {
    return get(replica, "/v1/models")
        .map(body -> ServedModel.read(body.toString()))
        .onSuccess(read -> read.ifPresent(models -> catalog.learn(replica, models)))
        .<Void>mapEmpty()
        .otherwiseEmpty();
  }

  private void judge(Replica replica, Replica.Health verdict) {
    if (verdict != replica.health()) {
      LOG.info("replica {} is {}", replica.name(), verdict);
      replica.health(verdict);
      if (verdict == Replica.Health.UP) {
        engineEvents.recovered(replica);
      }
    }
  }

  /** Asks, once more if a connection that was kept had ended meanwhile. */
  private Future<Buffer> get(Replica replica, String path) {
    return ask(replica, path)
        .recover(failure ->
            failure instanceof HttpClosedException
                ? ask(replica, path)
                : Future.failedFuture(failure));
  }

  private Future<Buffer> ask(Replica replica, String path) {
    if (client == null) {
      return Future.failedFuture("not started");
    }
    return client
        .get(replica, path, config.get().health().timeoutMs())
        .compose(answer ->
            answer.status() == 200
                ? Future.succeededFuture(answer.buffer())
                : Future.failedFuture("status " + answer.status()));
  }
}
