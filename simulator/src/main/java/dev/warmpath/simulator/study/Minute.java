package dev.warmpath.simulator.study;

import dev.warmpath.simulator.fleet.Measures;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.DoubleStream;

/**
 * What arrived in one minute before or after a fleet's change.
 *
 * @param minute it begins so many minutes after the change
 * @param requests that were answered
 * @param ttftMillis time to first token; NaN of none
 * @param hitRate share of prompt tokens that the engines did not compute; NaN of none
 */
record Minute(int minute, int requests, Distribution ttftMillis, double hitRate) {

  private static final int BEFORE = 5;
  private static final double SECONDS = 60;

  /** The minutes of a window, and five before it as far as the run has them; empty without end. */
  static List<Minute> of(Measures measures, Window window) {
    List<Minute> minutes = new ArrayList<>();
    if (!window.ends()) {
      return minutes;
    }
    int first = (int) -Math.min(BEFORE, Math.floor(window.fromSeconds() / SECONDS));
    int count = (int) Math.round((window.untilSeconds() - window.fromSeconds()) / SECONDS) - first;
    List<Sums> sums = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      sums.add(new Sums());
    }
    for (int i = 0; i < measures.requests(); i++) {
      double at = (measures.arrivedSeconds(i) - window.fromSeconds()) / SECONDS;
      if (at >= first && at < first + count && !Double.isNaN(measures.firstMillis(i))) {
        sums.get((int) Math.floor(at) - first).add(measures, i);
      }
    }
    for (int i = 0; i < count; i++) {
      minutes.add(sums.get(i).minute(first + i));
    }
    return minutes;
  }

  /** Adds up one minute. */
  private static final class Sums {
    private final DoubleStream.Builder ttft = DoubleStream.builder();
    private double prompt;
    private double cached;

    void add(Measures measures, int request) {
      ttft.add(measures.firstMillis(request));
      prompt += measures.promptTokens(request);
      cached += measures.cachedTokens(request);
    }

    Minute minute(int minute) {
      double[] values = ttft.build().toArray();
      return new Minute(minute, values.length, Distribution.of(values), cached / prompt);
    }
  }
}
