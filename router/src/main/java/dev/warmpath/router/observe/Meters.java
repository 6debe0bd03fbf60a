package dev.warmpath.router.observe;

import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.fleet.engine.EngineState;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.distribution.CountAtBucket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The counters and timers of a registry, each looked up there once.
 *
 * <p>Thread-safe.
 */
final class Meters {

  private static final Duration[] SHORT_BUCKETS = {
    Duration.ofNanos(100_000),
    Duration.ofNanos(200_000),
    Duration.ofNanos(500_000),
    Duration.ofMillis(1),
    Duration.ofMillis(2),
    Duration.ofMillis(5),
    Duration.ofMillis(10),
    Duration.ofMillis(20),
    Duration.ofMillis(50),
    Duration.ofMillis(100),
    Duration.ofMillis(200),
    Duration.ofMillis(500),
    Duration.ofSeconds(1),
    Duration.ofSeconds(5)
  };

  private static final Duration[] BUCKETS = {
    Duration.ofMillis(1),
    Duration.ofMillis(3),
    Duration.ofMillis(10),
    Duration.ofMillis(30),
    Duration.ofMillis(100),
    Duration.ofMillis(300),
    Duration.ofSeconds(1),
    Duration.ofSeconds(3),
    Duration.ofSeconds(10),
    Duration.ofSeconds(30),
    Duration.ofSeconds(100),
    Duration.ofSeconds(300)
  };

  private record Key(
      Metric metric, @Nullable String first, @Nullable String second, @Nullable String third) {

    List<Tag> tags() {
      List<String> labels = metric.labels();
      String[] values = {first, second, third};
      List<Tag> tags = new ArrayList<>(labels.size());
      for (int i = 0; i < labels.size(); i++) {
        tags.add(Tag.of(labels.get(i), String.valueOf(values[i])));
      }
      return tags;
    }
  }

  private final MeterRegistry registry;
  private final Map<Key, Counter> counters = new ConcurrentHashMap<>();
  private final Map<Key, Timer> timers = new ConcurrentHashMap<>();

  Meters(MeterRegistry registry) {
    this.registry = registry;
  }

  /** Counts one. The labels' values come in the order of the metric's labels. */
  void count(
      Metric metric, @Nullable String first, @Nullable String second, @Nullable String third) {
    counter(metric, first, second, third).increment();
  }

  /** Counts so many. */
  void count(Metric metric, String first, String second, int amount) {
    counter(metric, first, second, null).increment(amount);
  }

  private Counter counter(
      Metric metric, @Nullable String first, @Nullable String second, @Nullable String third) {
    Key key = new Key(metric, first, second, third);
    Counter known = counters.get(key);
    return known == null ? counters.computeIfAbsent(key, this::counter) : known;
  }

  void count(Metric metric, String first, String second) {
    count(metric, first, second, null);
  }

  void count(Metric metric, String first) {
    count(metric, first, null, null);
  }

  /** The histogram of a metric with one label at most. */
  Timer timer(Metric metric, @Nullable String value) {
    Key key = new Key(metric, value, null, null);
    Timer known = timers.get(key);
    return known == null ? timers.computeIfAbsent(key, this::timer) : known;
  }

  private Counter counter(Key key) {
    return Counter.builder(key.metric.registered())
        .description(key.metric.meaning())
        .tags(key.tags())
        .register(registry);
  }

  private Timer timer(Key key) {
    return Timer.builder(key.metric.registered())
        .description(key.metric.meaning())
        .serviceLevelObjectives(bounds(key.metric))
        .tags(key.tags())
        .register(registry);
  }

  private static Duration[] bounds(Metric metric) {
    boolean isShort = metric == Metric.ROUTING_SECONDS || metric == Metric.INTER_TOKEN_SECONDS;
    return isShort ? SHORT_BUCKETS : BUCKETS;
  }

  /** Shows {@code reader} each counter as it stands. */
  void read(CounterReader reader) {
    counters.forEach((key, counter) ->
        reader.counter(key.metric, key.first, key.second, key.third, counter.count()));
  }

  /** The histograms of a metric as they stand, one for each value of its label. */
  List<Buckets> buckets(Metric metric) {
    return timers.entrySet().stream()
        .filter(timer -> timer.getKey().metric == metric)
        .map(timer -> buckets(timer.getKey(), timer.getValue()))
        .toList();
  }

  private static Buckets buckets(Key key, Timer timer) {
    Duration[] bounds = bounds(key.metric);
    CountAtBucket[] reached = timer.takeSnapshot().histogramCounts();
    double[] boundsMillis = new double[bounds.length];
    long[] counts = new long[bounds.length + 1];
    long before = 0;
    for (int i = 0; i < bounds.length; i++) {
      boundsMillis[i] = bounds[i].toNanos() / 1e6;
      long now = Math.round(reached[i].count());
      counts[i] = now - before;
      before = now;
    }
    counts[bounds.length] = Math.max(0, timer.count() - before);
    return new Buckets(key.first, boundsMillis, counts);
  }

  /** Drops what was counted of a replica and its engines. */
  void forget(Replica replica) {
    counters.values().removeIf(counter -> dropped(replica, counter));
    timers.values().removeIf(timer -> dropped(replica, timer));
  }

  private boolean dropped(Replica replica, Meter meter) {
    boolean drops = isOf(replica, meter.getId());
    if (drops) {
      registry.remove(meter);
    }
    return drops;
  }

  private static boolean isOf(Replica replica, Meter.Id id) {
    return replica.name().equals(id.getTag("replica"))
        || engines(replica).anyMatch(engine -> engine.equals(id.getTag("engine")));
  }

  /** The names of a replica's engines. */
  static Stream<String> engines(Replica replica) {
    return IntStream.range(0, replica.ranks()).mapToObj(rank -> EngineState.name(replica, rank));
  }
}
