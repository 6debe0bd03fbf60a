package dev.warmpath.router.members;

import dev.warmpath.router.config.DiscoveryConfig;
import dev.warmpath.router.config.ReplicaConfig;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.MetricValues;
import dev.warmpath.router.prompt.InferenceRules;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds replicas until it is closed: looks at least once an interval, and within a second after it
 * was told of a change, sooner if its looks are short. What it gives on is always the whole set of
 * one good look, an empty one if there are none: a failure leaves the last one as it is, and is
 * followed by looks after 1 s, 2 s, 4 s … up to the interval.
 *
 * <p>Thread-safe.
 */
public final class ReplicaSource implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ReplicaSource.class);

  /** A look that failed is repeated after it. */
  private static final long RETRY_MILLIS = 1_000;

  /*
   * Changes that come at once are seen by one look. Time between two of them: five times what the
   * last one took, so that a large fleet that rolls costs a fifth of a core at most, within these
   * bounds.
   */
  private static final long MIN_SPACING_MILLIS = 100;
  private static final long MAX_SPACING_MILLIS = 500;
  private static final long SPACING_SHARE = 5;

  /** A find that stays valid for longer is looked for after this time all the same. */
  private static final long MAX_VALID_MILLIS = 30_000;

  /**
   * How a source stands.
   *
   * @param problem why its last look failed; null if it did not
   * @param goodSeconds since its last good look, or since its start if there was none
   * @param failures looks that failed since the start
   * @param replicas found by the last good look
   * @param refused addresses of the last good look that made no replica
   */
  public record Status(
      String source,
      @Nullable String problem,
      double goodSeconds,
      long failures,
      int replicas,
      int refused) {}

  private final String name;
  private final Look look;
  private final long intervalMillis;
  private final LongSupplier nanoClock;
  private final Semaphore changes = new Semaphore(0);
  private final CountDownLatch closed = new CountDownLatch(1);
  private final Object delivery = new Object();

  private volatile long goodNanos;
  private final AtomicLong failures = new AtomicLong();
  private volatile @Nullable String problem;
  private volatile @Nullable Found last;
  private Set<String> refusedBefore = Set.of();
  private long retryMillis = RETRY_MILLIS;

  /**
   * A source as it is configured.
   *
   * @param rules takes what stands there beside the replicas
   */
  public ReplicaSource(DiscoveryConfig config, InferenceRules rules, LongSupplier nanoClock) {
    this(config.name(), Look.of(config, rules), config.interval(), nanoClock);
  }

  ReplicaSource(String name, Look look, long intervalMillis, LongSupplier nanoClock) {
    this.name = name;
    this.look = look;
    this.intervalMillis = intervalMillis;
    this.nanoClock = nanoClock;
    this.goodNanos = nanoClock.getAsLong();
  }

  /** Its name in logs, metrics and the admin API; no two sources of a router share one. */
  public String name() {
    return name;
  }

  /** Why its last look failed; null if it did not. */
  public @Nullable String problem() {
    return problem;
  }

  /** How the source stands. */
  public Status status() {
    Found now = last;
    return new Status(
        name,
        problem,
        (nanoClock.getAsLong() - goodNanos) / 1e9,
        failures.get(),
        now == null ? 0 : now.replicas().size(),
        now == null ? 0 : now.refused().size());
  }

  /** The same for a scrape. */
  public void collect(MetricValues to) {
    Status now = status();
    to.add(Metric.DISCOVERY_AGE_SECONDS, now.goodSeconds(), name);
    to.add(Metric.DISCOVERY_FAILURES_TOTAL, now.failures(), name);
    to.add(Metric.DISCOVERY_REPLICAS, now.replicas(), name);
    to.add(Metric.DISCOVERY_REFUSED, now.refused(), name);
  }

  /** The replicas are worth so much now, in seconds; does not wait. */
  void worth(Map<String, Double> seconds) {
    look.worth(seconds);
  }

  /**
   * Starts looking.
   *
   * @param found gets the whole set whenever it has changed, never by two threads at once
   */
  void start(Consumer<List<ReplicaConfig>> found) {
    goodNanos = nanoClock.getAsLong();
    look.onChange(changes::release);
    Thread thread = new Thread(() -> run(found), "warmpath-discovery-" + name);
    thread.setDaemon(true);
    thread.start();
  }

  /**
   * Stops looking; nothing is found after it has returned. Must not be called by who is given what
   * was found.
   */
  @Override
  public void close() {
    synchronized (delivery) {
      closed.countDown();
    }
    changes.release();
    look.close();
  }

  private void run(Consumer<List<ReplicaConfig>> found) {
    try {
      do {
        changes.drainPermits();
        long begin = nanoClock.getAsLong();
        long wait = look(found);
        long spacing = problem == null ? spacing(nanoClock.getAsLong() - begin) : RETRY_MILLIS;
        if (!closed.await(Math.min(spacing, wait), TimeUnit.MILLISECONDS)) {
          changes.tryAcquire(wait - spacing, TimeUnit.MILLISECONDS);
        }
      } while (closed.getCount() > 0);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static long spacing(long lookNanos) {
    long share = SPACING_SHARE * TimeUnit.NANOSECONDS.toMillis(lookNanos);
    return Math.max(MIN_SPACING_MILLIS, Math.min(share, MAX_SPACING_MILLIS));
  }

  /** Looks once; returns after how many milliseconds at the latest to look again. */
  private long look(Consumer<List<ReplicaConfig>> found) {
    try {
      Found now = look.look();
      refused(now.refused());
      deliver(now, found);
      good();
      retryMillis = RETRY_MILLIS;
      return Math.max(intervalMillis, Math.min(now.validMillis(), MAX_VALID_MILLIS));
    } catch (IOException e) {
      failed(String.valueOf(e.getMessage()));
    } catch (RuntimeException | LinkageError e) {
      if (closed.getCount() > 0) {
        LOG.error("discovery {}: a look failed unexpectedly", name, e);
      }
      failed(e.toString());
    }
    long retry = Math.min(retryMillis, intervalMillis);
    retryMillis = 2 * retry;
    return retry;
  }

  private void deliver(Found now, Consumer<List<ReplicaConfig>> found) {
    synchronized (delivery) {
      Found before = last;
      boolean isNew = before == null || !before.replicas().equals(now.replicas());
      if (isNew && closed.getCount() > 0) {
        LOG.info(
            "discovery {}: {}", name, now.replicas().stream().map(ReplicaConfig::name).toList());
        found.accept(now.replicas());
      }
      last = now;
    }
  }

  private void good() {
    if (problem != null) {
      LOG.info("discovery {}: looks again", name);
    }
    problem = null;
    goodNanos = nanoClock.getAsLong();
  }

  /** Each problem is logged when it comes up, not at every look. */
  private void failed(String why) {
    failures.incrementAndGet();
    if (closed.getCount() > 0 && !why.equals(problem)) {
      LOG.warn("discovery {}: {}; what was found last stays", name, why);
    }
    problem = why;
  }

  private void refused(List<String> refused) {
    for (String address : refused) {
      if (!refusedBefore.contains(address)) {
        LOG.warn("discovery {}: refused {}", name, address);
      }
    }
    refusedBefore = new HashSet<>(refused);
  }
}
