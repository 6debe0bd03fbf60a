package dev.warmpath.router.picker;

import dev.warmpath.router.metrics.Counters;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.MetricValues;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What is counted of requests that a gateway asks for.
 *
 * <p>Thread-safe.
 */
public final class PickerMetrics {

  /** What became of a request. */
  enum Pick {
    /** It has an endpoint. */
    PICKED,
    /** It was answered at once. */
    REFUSED,
    /** Its client left before. */
    LEFT,
    /** Another endpoint than the first has answered it; counted beside its pick. */
    MOVED
  }

  private final AtomicInteger streams = new AtomicInteger();
  private final Counters<Pick> picks;
  private final Counters<String> immediate;
  private final Counters<String> errors;

  public PickerMetrics(MeterRegistry registry) {
    this.picks =
        new Counters<>(pick ->
            Metric.PICKER_PICKS_TOTAL.counter(registry, pick.name().toLowerCase(Locale.ROOT)));
    this.immediate =
        new Counters<>(code -> Metric.PICKER_IMMEDIATE_RESPONSES_TOTAL.counter(registry, code));
    this.errors =
        new Counters<>(reason -> Metric.PICKER_PROTOCOL_ERRORS_TOTAL.counter(registry, reason));
  }

  void opened() {
    streams.incrementAndGet();
  }

  void closed() {
    streams.decrementAndGet();
  }

  void count(Pick pick) {
    picks.of(pick).increment();
  }

  void countImmediate(String code) {
    immediate.of(code).increment();
  }

  void countError(String reason) {
    errors.of(reason).increment();
  }

  /** How many streams are open, for a scrape. */
  public void collect(MetricValues to) {
    to.add(Metric.PICKER_STREAMS, streams.get());
  }
}
