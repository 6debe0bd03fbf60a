package dev.warmpath.simulator.live;

import java.util.Locale;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.DoubleAdder;

/**
 * A Prometheus histogram of seconds.
 *
 * <p>Thread-safe.
 */
final class Histogram {

  private static final double[] BOUNDS = {
    0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80
  };

  private final AtomicLongArray counts = new AtomicLongArray(BOUNDS.length + 1);
  private final DoubleAdder sum = new DoubleAdder();

  void record(double seconds) {
    int bucket = 0;
    while (bucket < BOUNDS.length && seconds > BOUNDS[bucket]) {
      bucket++;
    }
    counts.incrementAndGet(bucket);
    sum.add(seconds);
  }

  void write(StringBuilder page, String name, String labels) {
    page.append("# TYPE ").append(name).append(" histogram\n");
    long total = 0;
    for (int i = 0; i <= BOUNDS.length; i++) {
      total += counts.get(i);
      String bound = i < BOUNDS.length ? Double.toString(BOUNDS[i]) : "+Inf";
      page.append(
          String.format(Locale.ROOT, "%s_bucket{%s,le=\"%s\"} %d%n", name, labels, bound, total));
    }
    page.append(String.format(Locale.ROOT, "%s_sum{%s} %s%n", name, labels, sum.sum()));
    page.append(String.format(Locale.ROOT, "%s_count{%s} %d%n", name, labels, total));
  }
}
