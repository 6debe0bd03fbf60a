package dev.warmpath.router.health;

import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.fleet.EngineEvents;
import dev.warmpath.router.fleet.Fleet;
import dev.warmpath.router.fleet.KvTransfer;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.fleet.Replica.Check;
import dev.warmpath.router.fleet.Replica.Health;
import dev.warmpath.router.members.AnnouncedRanks;
import dev.warmpath.router.upstream.EngineClient;
import dev.warmpath.router.upstream.Upstreams;
import io.netty.channel.ConnectTimeoutException;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClosedException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks every replica at an interval whether it is well, over connections of its own so that load
 * does not starve the checks, what models it serves, where its events are, and what its metrics say
 * of its lifetime. A replica's models and ranks are known before it comes up.
 *
 * <p>Confined to its event loop.
 */
public final class HealthChecker extends VerticleBase {

  private static final Logger LOG = LoggerFactory.getLogger(HealthChecker.class);

  private static final int CONNECTIONS_PER_REPLICA = 2;

  /** Between two looks whether metrics are to be read again. */
  private static final int OFF_MS = 1_000;

  private static final int ANSWER_LIMIT_BYTES = 4 << 20;

  /** A replica that is up is asked for its models and event sources at every so many checks. */
  private static final int CHECKS_A_LIST = 5;

  private static final int OK = 200;
  private static final int NOT_FOUND = 404;
  private static final int NOT_ALLOWED = 405;

  private final Supplier<RouterConfig> config;
  private final Fleet fleet;
  private final Upstreams upstreams;
  private final ModelCatalog catalog;
  private final Function<Replica, String> healthPath;
  private final Map<Replica, Checked> checked = new HashMap<>();
  private final EngineEvents engineEvents;
  private final AnnouncedRanks.Listener announcedRanks;
  private final FleetWatch watch;
  private final LongSupplier nanoClock;

  /** How a replica stood when it was looked at last. */
  private static final class Checked {
    private final Streak streak;
    private final RestartDetector restarts;
    private final OtherLoadWatch others;
    private boolean asking;
    private int checks;
    private MetricsPage metrics = MetricsPage.NONE;

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
   * @param announcedRanks told what engines say of their ranks and events
   * @param watch looks at the fleet as often as it is checked
   * @param nanoClock the clock that {@link Replica#responded} is told
   */
  public HealthChecker(
      Supplier<RouterConfig> config,
      Fleet fleet,
      Upstreams upstreams,
      ModelCatalog catalog,
      Function<Replica, String> healthPath,
      EngineEvents engineEvents,
      AnnouncedRanks.Listener announcedRanks,
      FleetWatch watch,
      LongSupplier nanoClock) {
    this.watch = watch;
    this.nanoClock = nanoClock;
    this.config = config;
    this.engineEvents = engineEvents;
    this.announcedRanks = announcedRanks;
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
    watch.look();
  }

  private void looks() {
    int interval = config.get().health().metricsIntervalMs();
    metricsTimer = vertx.setTimer(interval > 0 ? interval : OFF_MS, id -> looks());
    if (interval > 0) {
      watchAll();
    } else {
      checked.values().forEach(state -> state.others.forget());
      fleet.replicas().forEach(replica -> replica.asleep(false));
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
      replica.findStuck(firstByteNanos(), nanoClock.getAsLong());
    }
  }

  private long firstByteNanos() {
    return TimeUnit.MILLISECONDS.toNanos(config.get().timeouts().firstByteMs());
  }

  private Checked checked(Replica replica) {
    return checked.computeIfAbsent(
        replica,
        r ->
            new Checked(new Streak(), new RestartDetector(r, engineEvents), new OtherLoadWatch(r)));
  }

  private void check(Replica replica, boolean turnForLists) {
    boolean asksLists = turnForLists || replica.health() == Replica.Health.DOWN;
    get(replica, healthPath.apply(replica))
        .transform((body, failure) -> {
          if (failure == null && asksLists && body.length() > 0) {
            role(replica, body);
          }
          boolean mayServe = failure == null || kind(failure) == Check.UNANSWERED;
          Future<Void> found =
              failure == null ? Future.succeededFuture() : Future.failedFuture(failure);
          return asksLists && mayServe
              ? models(replica).compose(asked -> announcedRanks(replica)).compose(asked -> found)
              : found;
        })
        .onComplete(done -> {
          Checked state = checked.get(replica);
          if (state != null) {
            state.asking = false;
            judge(replica, state, done.cause());
          }
        });
  }

  /** Takes what an SGLang engine says of its part in disaggregated serving. */
  private void role(Replica replica, Buffer modelInfo) {
    KvTransfer known = replica.transfer();
    ModelInfo info = ModelInfo.read(modelInfo.toString());
    KvTransfer told =
        replica.configuredTransfer().told(info.disaggregationMode(), info.bootstrapPort());
    boolean tells = !info.disaggregationMode().isEmpty();
    if (tells && !told.equals(known)) {
      LOG.info(
          "an engine tells its role, replica={} role={} was={}",
          replica.name(),
          told.role(),
          known.role());
      fleet.updateTransfer(replica, told);
    }
  }

  /**
   * Counts a check for or against the replica. An unanswered one does not count against a replica
   * that responds to requests: it is busy, not dead.
   *
   * @param failure null if the check passed
   */
  private void judge(Replica replica, Checked state, @Nullable Throwable failure) {
    Check found = failure == null ? Check.PASSED : kind(failure);
    replica.checked(
        found, failure == null ? null : problem(failure, config.get().health().timeoutMs()));
    boolean good =
        found == Check.PASSED
            || (found == Check.UNANSWERED && replica.isResponding(nanoClock.getAsLong()));
    RouterConfig.Health now = config.get().health();
    Replica.Health verdict = state.streak.after(good, now.rise(), now.fall());
    if (verdict != replica.health()) {
      replica.health(verdict);
      if (verdict == Replica.Health.UP) {
        engineEvents.recovered(replica);
      }
    }
  }

  static Check kind(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof TimeoutException
          || cause instanceof ConnectTimeoutException
          || cause instanceof UnknownHostException) {
        return Check.UNANSWERED;
      }
    }
    return Check.FAILED;
  }

  /** What a failure means, in words that are the same each time. */
  static String problem(Throwable failure, int timeoutMs) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof UnknownHostException) {
        return "its host name does not resolve";
      } else if (cause instanceof TimeoutException || cause instanceof ConnectTimeoutException) {
        return "no answer within " + timeoutMs + " ms";
      } else if (cause instanceof ConnectException) {
        return "connection refused";
      } else if (cause instanceof SSLException) {
        return "TLS: " + cause.getMessage();
      }
    }
    return failure instanceof HttpClosedException || failure instanceof IOException
        ? "the connection broke"
        : String.valueOf(failure.getMessage());
  }

  /** Reads every replica's metrics; one that does not answer is left as it is. */
  private void watchAll() {
    for (Replica replica : fleet.replicas()) {
      Checked state = checked(replica);
      state.others.metricsRequested();
      get(replica, "/metrics")
          .onSuccess(page -> recordMetrics(replica, state, MetricsPage.read(page.getBytes())))
          .onFailure(e -> state.others.missed());
    }
  }

  private void recordMetrics(Replica replica, Checked state, MetricsPage metrics) {
    long now = nanoClock.getAsLong();
    replica.metricsRead(now);
    findStuck(replica, state, metrics, now);
    replica.asleep(metrics.asleep());
    replica.transferred(metrics.receivedTokens(), metrics.expiredTransfers());
    if (state.restarts.isRestarted(metrics)) {
      state.checks = 0; // the next check asks for what may have changed
    }
    LearnedLimit.learn(replica, metrics, config.get().limits().engineWaiting());
    state.others.readLoad(metrics, config.get().health().otherLoad());
  }

  private static void findStuck(
      Replica replica, Checked state, MetricsPage metrics, long nowNanos) {
    if (metrics.movedSince(state.metrics)) {
      replica.moved(nowNanos);
    } else if (!Double.isNaN(metrics.tokens())) {
      replica.findStuck(Replica.STUCK_NANOS, nowNanos);
    }
    state.metrics = metrics;
  }

  /** Asks for the models; a replica without an answer to that keeps what is known of it. */
  private Future<Void> models(Replica replica) {
    return get(replica, "/v1/models")
        .onSuccess(body ->
            ServedModel.read(body.toString())
                .ifPresentOrElse(
                    models -> catalog.learn(replica, models),
                    () -> catalog.missed(replica, "it is no list of models")))
        .onFailure(e -> catalog.missed(replica, problem(e, config.get().health().timeoutMs())))
        .<Void>mapEmpty()
        .otherwiseEmpty();
  }

  /**
   * Asks where its events are, and waits until that is taken into account. A replica without an
   * answer keeps what is known of it.
   */
  private Future<Void> announcedRanks(Replica replica) {
    if (client == null || !announcedRanks.wantsRanks(replica)) {
      return Future.succeededFuture();
    }
    return client
        .get(replica, "/kv_event_sources", config.get().health().timeoutMs())
        .map(HealthChecker::sources)
        .otherwise(Optional.empty())
        .compose(told ->
            told.isEmpty()
                ? Future.succeededFuture(false)
                : Future.fromCompletionStage(
                    announcedRanks.ranksAnnounced(replica, told.get()), vertx.getOrCreateContext()))
        .onSuccess(changed -> {
          if (changed) {
            checkAll(); // another replica has its place, which is down until it is checked
          }
        })
        .mapEmpty();
  }

  /** What an answer says; empty if it is none, as that of an engine that starts. */
  private static Optional<AnnouncedRanks> sources(EngineClient.Answer answer) {
    if (answer.status() == OK) {
      return AnnouncedRanks.read(answer.body());
    }
    boolean hasNoPath = answer.status() == NOT_FOUND || answer.status() == NOT_ALLOWED;
    return hasNoPath ? Optional.of(AnnouncedRanks.UNTOLD) : Optional.empty();
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
            answer.status() == OK
                ? Future.succeededFuture(answer.buffer())
                : Future.failedFuture("status " + answer.status()));
  }

  /**
   * Learns how many requests a replica takes before they wait in its engines' own queues, where
   * they could not go to another replica any more.
   *
   * <p>More than the configured number waiting: the limit falls to what was in flight without the
   * excess. Fewer, and the limit is nearly reached: it rises by a tenth.
   *
   * <p>Confined to its event loop.
   */
  static final class LearnedLimit {

    private static final double NEARLY = 0.9;

    private LearnedLimit() {}

    /**
     * The replica's metrics say this.
     *
     * @param mayWait requests that may wait in a replica's engines; 0: any number
     */
    static void learn(Replica replica, MetricsPage metrics, int mayWait) {
      if (mayWait == 0) {
        replica.limit(Replica.NO_LIMIT);
        return;
      }
      if (Double.isNaN(metrics.waiting())) {
        return;
      }
      int inFlight = replica.requests();
      int limit = replica.limit();
      int excess = (int) Math.min(metrics.waiting(), Integer.MAX_VALUE) - mayWait;
      if (excess > 0) {
        replica.limit(Math.max(1, Math.min(limit, inFlight - excess)));
      } else if (limit < Replica.NO_LIMIT && inFlight >= NEARLY * limit) {
        replica.limit(limit + Math.max(1, limit / 10));
      }
    }
  }

  /**
   * Turns single checks into a verdict: so many good ones in a row bring a replica up, so many bad
   * ones take it down. The very first good check brings it up at once, so that a start is not
   * delayed.
   *
   * <p>Confined to its event loop.
   */
  static final class Streak {

    private Health verdict = Health.DOWN;
    private boolean wasUp;
    private int against;

    /**
     * The verdict after one more check.
     *
     * @param rise good checks in a row that bring it up
     * @param fall bad checks in a row that take it down
     */
    Health after(boolean good, int rise, int fall) {
      if (good == (verdict == Health.UP)) {
        against = 0;
        return verdict;
      }
      against++;
      int needed = good ? (wasUp ? rise : 1) : fall;
      if (against >= needed) {
        verdict = good ? Health.UP : Health.DOWN;
        wasUp = true;
        against = 0;
      }
      return verdict;
    }
  }
}
