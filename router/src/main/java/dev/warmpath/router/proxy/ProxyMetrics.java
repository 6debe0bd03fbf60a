package dev.warmpath.router.proxy;

import dev.warmpath.router.dispatch.Assignment;
import dev.warmpath.router.metrics.Counters;
import dev.warmpath.router.metrics.Metric;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * What is counted of requests, whoever answers them. What their engines do is counted by {@link
 * dev.warmpath.router.fleet.EngineMeters}.
 *
 * <p>Thread-safe; waits for nobody once a series is there.
 */
public final class ProxyMetrics {

  /** What is counted of one path; counters by status and ending, each from its first count on. */
  private static final class OfPath {

    /** Statuses from 600 on are counted one by one without a place here. */
    private static final int STATUSES = 600;

    private final Timer duration;
    private final AtomicReferenceArray<@Nullable Counter> ended =
        new AtomicReferenceArray<>(STATUSES * ResponseEnd.values().length);

    OfPath(Timer duration) {
      this.duration = duration;
    }
  }

  static final String PREFILL = "prefill";
  static final String DECODE = "decode";

  private final MeterRegistry registry;
  private final Map<String, OfPath> paths = new ConcurrentHashMap<>();
  private final Counters<String> rejections;
  private final Counters<String> retries;
  private final Counters<String> splits;
  private final Counters<String> splitTokens;
  private final Map<String, Timer> legs = new ConcurrentHashMap<>();
  private final Timer routing;
  private final Timer queueWait;

  public ProxyMetrics(MeterRegistry registry) {
    this.registry = registry;
    this.rejections = new Counters<>(code -> Metric.REJECTED_TOTAL.counter(registry, code));
    this.retries = new Counters<>(cause -> Metric.RETRIES_TOTAL.counter(registry, cause));
    this.splits = new Counters<>(result -> Metric.SPLIT_REQUESTS_TOTAL.counter(registry, result));
    this.splitTokens = new Counters<>(kind -> Metric.SPLIT_TOKENS_TOTAL.counter(registry, kind));
    this.routing = Metric.ROUTING_SECONDS.timer(registry);
    this.queueWait = Metric.QUEUE_WAIT_SECONDS.timer(registry);
  }

  /**
   * A request ended.
   *
   * @param status HTTP status that was sent, 499 if the client went before there was one
   */
  public void countEnd(Route route, int status, ResponseEnd ending, long durationNanos) {
    OfPath path = paths.get(route.path());
    if (path == null) {
      path = paths.computeIfAbsent(route.path(), this::newPath);
    }
    ended(route, path, status, ending).increment();
    path.duration.record(durationNanos, TimeUnit.NANOSECONDS);
  }

  private OfPath newPath(String path) {
    return new OfPath(Metric.REQUEST_DURATION_SECONDS.timer(registry, path));
  }

  private Counter ended(Route route, OfPath path, int status, ResponseEnd ending) {
    if (status < 0 || status >= OfPath.STATUSES) {
      return newEnded(route, status, ending);
    }
    int place = ending.ordinal() * OfPath.STATUSES + status;
    Counter counter = path.ended.get(place);
    if (counter == null) {
      counter = newEnded(route, status, ending);
      path.ended.set(place, counter);
    }
    return counter;
  }

  private Counter newEnded(Route route, int status, ResponseEnd ending) {
    return Metric.REQUESTS_TOTAL.counter(
        registry, route.path(), Integer.toString(status), ending.label());
  }

  /**
   * A request is sent to its first replica.
   *
   * @param nanos from its last byte, without its wait in the queue
   */
  void recordRouting(long nanos) {
    routing.record(nanos, TimeUnit.NANOSECONDS);
  }

  /** A request left the queue, so long after it came. */
  void recordQueueWait(long sinceRequestNanos) {
    queueWait.record(sinceRequestNanos, TimeUnit.NANOSECONDS);
  }

  /** Another replica is tried. */
  void countRetry(String cause) {
    retries.of(cause).increment();
  }

  /** A request that could be split is not. */
  void countUnsplit(String result) {
    splits.of(result).increment();
  }

  /** The prompt of a request was computed by another engine than the one that answers, or not. */
  public void countSplit(String result, Assignment computes, Assignment answers) {
    splits.of(result).increment();
    computes.meters().countPair(PREFILL, result);
    answers.meters().countPair(DECODE, result);
  }

  /** Prompt tokens of a split request. */
  void countSplitTokens(String kind, int tokens) {
    splitTokens.of(kind).increment(tokens);
  }

  /** One leg of a split request took so long. */
  void recordLeg(String leg, long nanos) {
    Timer timer = legs.get(leg);
    if (timer == null) {
      timer = legs.computeIfAbsent(leg, name -> Metric.SPLIT_LEG_SECONDS.timer(registry, name));
    }
    timer.record(nanos, TimeUnit.NANOSECONDS);
  }

  /** The router answered by itself. */
  public void countRejection(String code) {
    rejections.of(code).increment();
  }
}
