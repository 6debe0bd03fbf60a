package dev.warmpath.router.observe;

import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.fleet.engine.EngineState;
import dev.warmpath.router.metrics.Metric;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
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

  private record Key(
      Metric metric, @Nullable String first, @Nullable String second, @Nullable String third) {

    String[] values() {
      return Stream.of(first, second, third)
          .limit(metric.labels().size())
          .map(String::valueOf)
          .toArray(String[]::new);
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
    return key.metric.counter(registry, key.values());
  }

  private Timer timer(Key key) {
    return key.metric.timer(registry, key.values());
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
