package dev.warmpath.router.observe;

import org.jspecify.annotations.Nullable;

/** Is shown counters one after another, with their labels' values in the order of the metric's. */
public interface CounterReader {

  /** A counter that stands at {@code value}. */
  void counter(
      Metric metric,
      @Nullable String first,
      @Nullable String second,
      @Nullable String third,
      double value);
}
