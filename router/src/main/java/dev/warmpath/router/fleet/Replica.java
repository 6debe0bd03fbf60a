package dev.warmpath.router.fleet;

import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.MetricValues;
import java.net.URI;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * One HTTP endpoint that runs an engine, or several as data-parallel ranks.
 *
 * <p>Two replicas are equal only if they are the same object: one that was removed and added again
 * under its old name is another replica.
 *
 * <p>Thread-safe.
 */
public final class Replica {

  /** What the last health checks said. */
  public enum Health {
    UP,
    DOWN
  }

  /** What one health check found. */
  public enum Check {
    /** None is over yet. */
    NONE,
    /** It passed. */
    PASSED,
    /** Nothing came in time, or the host name did not resolve: the replica may only be busy. */
    UNANSWERED,
    /** No connection, a broken one, or an error status. */
    FAILED
  }

  /** For so long a byte of a response, or a metrics page, shows that a replica is alive. */
  public static final long ALIVE_NANOS = TimeUnit.SECONDS.toNanos(10);

  /**
   * For so long nothing may move at a replica whose metrics count tokens while requests wait for
   * their first byte there.
   */
  public static final long STUCK_NANOS = TimeUnit.SECONDS.toNanos(30);

  /** The {@link #limit} of a replica of which nothing was learned. */
  public static final int NO_LIMIT = Integer.MAX_VALUE;

  /** The {@link #illness} of a replica of which nothing came since it joined. */
  public static final int UNTRIED = 5;

  private static final int SLOW = 1;
  private static final int FAILING = 2;
  private static final int STUCK = 3;
  private static final int ASLEEP = 4;
  private static final long NEVER = Long.MIN_VALUE;

  /** A busy stream writes its time so often. */
  private static final long STAMP_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final String name;
  private final URI baseUrl;
  private final int ranks;
  private final int firstRank;
  private final Set<String> configuredModels;
  private volatile Set<String> models;
  private volatile boolean namesModels;
  private volatile Map<String, Integer> maxTokens = Map.of();
  private volatile Health health = Health.DOWN;
  private volatile boolean asleep;
  private volatile boolean wasAlive;
  private volatile Check lastCheck = Check.NONE;
  private volatile @Nullable String checkProblem;
  private volatile long respondedNanos = NEVER;
  private volatile long metricsNanos = NEVER;
  private final AtomicInteger unanswered = new AtomicInteger();
  private volatile long movedNanos = NEVER;
  private volatile boolean stuck;
  private volatile boolean draining;
  private volatile boolean globalRanks;
  private final AtomicInteger requests = new AtomicInteger();
  private volatile int limit = NO_LIMIT;
  private volatile long gpuBlocks;
  private final AtomicIntegerArray rankRequests;
  private final AtomicReferenceArray<OtherLoad> otherLoads;
  private final AtomicReferenceArray<ReportedLoad> reportedLoads;
  private volatile double weight = 1;
  private volatile KvTransfer configuredTransfer = KvTransfer.NONE;
  private volatile KvTransfer transfer = KvTransfer.NONE;
  private volatile double receivedTokens = Double.NaN;
  private volatile double expiredTransfers = Double.NaN;
  private volatile boolean gone;

  /**
   * A replica that is down until {@link #health(Health)} says otherwise.
   *
   * @param baseUrl where its API is, without a path
   * @param models the names that requests may call it by: base models and adapters; empty: any,
   *     until it names its models
   * @param ranks data-parallel ranks behind the endpoint, at least 1; each is an engine
   */
  public Replica(String name, URI baseUrl, Set<String> models, int ranks) {
    this(name, baseUrl, models, ranks, 0);
  }

  /**
   * The same on a node whose ranks do not begin at 0.
   *
   * @param firstRank the first rank's number among those of all nodes
   */
  public Replica(String name, URI baseUrl, Set<String> models, int ranks, int firstRank) {
    if (name.isBlank()) {
      throw new IllegalArgumentException("name='" + name + "'");
    }
    if (ranks < 1) {
      throw new IllegalArgumentException("ranks=" + ranks);
    }
    this.name = name;
    this.baseUrl = baseUrl;
    this.configuredModels = Set.copyOf(models);
    this.models = configuredModels;
    this.namesModels = !models.isEmpty();
    this.ranks = ranks;
    this.firstRank = firstRank;
    this.rankRequests = new AtomicIntegerArray(ranks);
    this.otherLoads = new AtomicReferenceArray<>(ranks);
    this.reportedLoads = new AtomicReferenceArray<>(ranks);
  }

  public String name() {
    return name;
  }

  public URI baseUrl() {
    return baseUrl;
  }

  /** How many ranks it has; here they count from 0. */
  public int ranks() {
    return ranks;
  }

  /** What its first rank is called by events and metrics, which count the ranks of all nodes. */
  public int firstRank() {
    return firstRank;
  }

  /** What its request header calls one of its ranks: with vLLM's Rust front end as of all nodes. */
  public int headerRank(int rank) {
    return globalRanks ? firstRank + rank : rank;
  }

  public void globalRanks(boolean are) {
    globalRanks = are;
  }

  /** Which part of a request it serves, and how its KV cache gets to others. */
  public KvTransfer transfer() {
    return transfer;
  }

  /** What it was configured for, if it does not say otherwise itself. */
  public KvTransfer configuredTransfer() {
    return configuredTransfer;
  }

  /** It is configured for this. */
  public void transfer(KvTransfer is) {
    configuredTransfer = is;
    transfer = is;
  }

  /** It says that it is for this; see {@link Fleet#updateTransfer}. */
  void updateTransfer(KvTransfer is) {
    transfer = is;
  }

  /** Its engines count so many; NaN what they do not tell. */
  public void transferred(double tokensReceived, double transfersExpired) {
    receivedTokens = tokensReceived;
    expiredTransfers = transfersExpired;
  }

  public Set<String> models() {
    return models;
  }

  /**
   * It serves these models from now on, as when an adapter was loaded. If it lists none, it serves
   * those that were configured, or nothing.
   */
  public void models(Set<String> served) {
    models = served.isEmpty() ? configuredModels : Set.copyOf(served);
    namesModels = true;
    wasAlive = true;
  }

  /** Whether its models are known, by the configuration or by what it answered. */
  public boolean namesModels() {
    return namesModels;
  }

  /**
   * Whether it serves {@code model}; null stands for whatever it serves. As long as its models are
   * not known it may serve any.
   */
  public boolean serves(@Nullable String model) {
    return !namesModels || (model == null ? !models.isEmpty() : models.contains(model));
  }

  /**
   * How long a prompt may be there together with its answer, in tokens; {@link Integer#MAX_VALUE}
   * if the replica does not say.
   *
   * @param model null stands for whatever it serves
   */
  public int maxTokens(@Nullable String model) {
    Map<String, Integer> said = maxTokens;
    return model == null
        ? said.values().stream().mapToInt(Integer::intValue).min().orElse(Integer.MAX_VALUE)
        : said.getOrDefault(model, Integer.MAX_VALUE);
  }

  /** It says so of these models, by name. */
  public void maxTokens(Map<String, Integer> said) {
    maxTokens = Map.copyOf(said);
  }

  public Health health() {
    return health;
  }

  public void health(Health found) {
    health = found;
    wasAlive |= found == Health.UP;
  }

  /** Whether its engines sleep, by its metrics: a request would wait for their waking. */
  public boolean asleep() {
    return asleep;
  }

  public void asleep(boolean is) {
    asleep = is;
  }

  /** Whether it gets requests as usual, as far as its health is concerned. */
  public boolean isWell() {
    return health == Health.UP && !asleep && !stuck;
  }

  /**
   * Whether requests wait there and nothing moves, though its health check may pass. Until a byte
   * of a response comes or its metrics count on, it gets one request at a time, unless no other
   * replica is well.
   */
  public boolean isStuck() {
    return stuck;
  }

  /** Its metrics show that it computes. */
  public void moved(long nowNanos) {
    movedNanos = stamp(nowNanos);
    stuck = false;
  }

  /**
   * It is stuck if requests wait for their first byte, and for so long none came of any response,
   * nor did its metrics count on.
   */
  public void findStuck(long limitNanos, long nowNanos) {
    if (unanswered.get() > 0
        && !isRecent(movedNanos, nowNanos, limitNanos)
        && !isRecent(respondedNanos, nowNanos, limitNanos)) {
      stuck = true;
    }
  }

  /**
   * Which replicas are tried first when none of a model's is well: the lower, the less speaks
   * against it. {@link #UNTRIED} is not tried at all.
   */
  public int illness() {
    if (health == Health.DOWN && !wasAlive) {
      return UNTRIED;
    }
    if (asleep) {
      return ASLEEP;
    }
    if (health == Health.DOWN) {
      return lastCheck == Check.UNANSWERED ? SLOW : FAILING;
    }
    return stuck && unanswered.get() > 0 ? STUCK : 0;
  }

  /** Why it does not get requests as usual, for operators; null if it is well. */
  public @Nullable String problem() {
    if (health == Health.DOWN) {
      String why = checkProblem;
      return why == null ? "it was not checked yet" : why;
    }
    if (asleep) {
      return "its engines sleep";
    }
    return stuck ? "requests wait there, and it answers none" : null;
  }

  /** What the last health check found. */
  public Check lastCheck() {
    return lastCheck;
  }

  /** What was wrong with the last health check, for operators; null if nothing was. */
  public @Nullable String checkProblem() {
    return checkProblem;
  }

  /**
   * A health check found this. A failed one outweighs what came before it.
   *
   * @param problem what was wrong, for operators; null if it passed
   */
  public void checked(Check found, @Nullable String problem) {
    lastCheck = found;
    checkProblem = problem;
    if (found == Check.FAILED) {
      respondedNanos = NEVER;
      metricsNanos = NEVER;
    }
  }

  /** A byte of a response's body came, if only to refuse the request (4xx). */
  public void responded(long nowNanos) {
    if (nowNanos - respondedNanos > STAMP_NANOS || respondedNanos == NEVER) {
      respondedNanos = stamp(nowNanos);
    }
    if (stuck) {
      stuck = false;
    }
  }

  /** Its metrics were read. */
  public void metricsRead(long nowNanos) {
    metricsNanos = stamp(nowNanos);
    wasAlive = true;
  }

  /**
   * Whether a byte of a response came within {@link #ALIVE_NANOS}, and after the last failed check:
   * it works, whatever an unanswered health check suggests.
   *
   * @param nowNanos of the clock that {@link #responded} is told
   */
  public boolean isResponding(long nowNanos) {
    return isRecent(respondedNanos, nowNanos, ALIVE_NANOS);
  }

  /**
   * Whether it is alive: its last health check passed, or, unless that failed, its metrics were
   * read or a byte of any response came within {@link #ALIVE_NANOS}. A request that takes long at
   * such a replica is no fault of it.
   */
  public boolean isAlive(long nowNanos) {
    return lastCheck == Check.PASSED
        || isResponding(nowNanos)
        || isRecent(metricsNanos, nowNanos, ALIVE_NANOS);
  }

  private static boolean isRecent(long stampNanos, long nowNanos, long withinNanos) {
    return stampNanos != NEVER && nowNanos - stampNanos < withinNanos;
  }

  private static long stamp(long nowNanos) {
    return nowNanos == NEVER ? nowNanos + 1 : nowNanos;
  }

  /** How many requests in flight it takes before they would wait there, as far as was learned. */
  public int limit() {
    return limit;
  }

  public void limit(int learned) {
    limit = learned;
  }

  /** For how many blocks the GPUs of all its ranks have room; 0 if it has not said. */
  public long gpuBlocks() {
    return gpuBlocks;
  }

  public void gpuBlocks(long said) {
    gpuBlocks = said;
  }

  /** Requests in flight on all its ranks, those of other routers that tell of theirs included. */
  public int requests() {
    return requests.get();
  }

  /** Requests in flight on one rank. */
  public int requests(int rank) {
    return rankRequests.get(rank);
  }

  /** A request is about to be sent there, which then waits for its first byte. */
  public void began(int rank, long nowNanos) {
    if (unanswered.getAndIncrement() == 0) {
      movedNanos = stamp(nowNanos);
    }
    requests.incrementAndGet();
    rankRequests.incrementAndGet(rank);
  }

  /** One of those has its first byte, or is over without one. */
  public void answered() {
    unanswered.decrementAndGet();
  }

  /** One of those is over. */
  public void ended(int rank) {
    requests.decrementAndGet();
    rankRequests.decrementAndGet(rank);
  }

  /** Another router has sent so many requests there, or fewer. */
  public void booked(int rank, int more) {
    requests.addAndGet(more);
    rankRequests.addAndGet(rank, more);
  }

  /** What one of its ranks does for others. */
  public OtherLoad otherLoad(int rank) {
    OtherLoad known = otherLoads.get(rank);
    return known == null ? OtherLoad.NONE : known;
  }

  public void otherLoad(int rank, OtherLoad seen) {
    otherLoads.set(rank, seen);
  }

  /** What one of its ranks has to do for all its clients, by its own metrics. */
  public ReportedLoad reportedLoad(int rank) {
    ReportedLoad known = reportedLoads.get(rank);
    return known == null ? ReportedLoad.UNKNOWN : known;
  }

  public void reportedLoad(int rank, ReportedLoad seen) {
    reportedLoads.set(rank, seen);
  }

  /**
   * Whether it only answers too slowly to pass its health checks: it may well serve requests, and
   * does when no replica is well.
   */
  public boolean isOnlySlow() {
    return illness() == SLOW;
  }

  /** Whether it gets no new requests while the old ones run out. */
  public boolean draining() {
    return draining;
  }

  public void draining(boolean is) {
    draining = is;
  }

  /** How much it should carry, relative to others; above 0. */
  public double weight() {
    return weight;
  }

  public void weight(double relative) {
    weight = relative;
  }

  /** Whether it has left the fleet: what is counted of it is kept no more. */
  public boolean isGone() {
    return gone;
  }

  void markGone() {
    gone = true;
  }

  /**
   * How it stands, for a scrape.
   *
   * @param most requests that any replica may have in flight
   */
  public void collect(MetricValues to, int most) {
    to.add(Metric.REPLICA_UP, health == Health.UP ? 1 : 0, name);
    to.add(Metric.REPLICA_STUCK, stuck ? 1 : 0, name);
    to.add(Metric.REPLICA_DRAINING, draining ? 1 : 0, name);
    to.add(Metric.REPLICA_REQUESTS, requests(), name);
    to.add(Metric.REPLICA_REQUESTS_LIMIT, Math.min(most, limit), name);
    if (!Double.isNaN(receivedTokens)) {
      to.add(Metric.REPLICA_RECEIVED_TOKENS_TOTAL, receivedTokens, name);
    }
    if (!Double.isNaN(expiredTransfers)) {
      to.add(Metric.REPLICA_EXPIRED_TRANSFERS_TOTAL, expiredTransfers, name);
    }
  }

  @Override
  public String toString() {
    return name;
  }
}
