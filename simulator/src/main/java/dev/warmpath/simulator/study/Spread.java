package dev.warmpath.simulator.study;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Arrays;

/** One figure over several rounds. */
public record Spread(double median, double min, double max) {

  private static final Spread NONE = new Spread(Double.NaN, Double.NaN, Double.NaN);

  /** The median of an even number is the mean of the two in the middle; NaN of none. */
  public static Spread of(double[] values) {
    if (values.length == 0) {
      return NONE;
    }
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    int last = sorted.length - 1;
    double median = (sorted[last / 2] + sorted[(last + 1) / 2]) / 2;
    return new Spread(median, sorted[0], sorted[last]);
  }

  public void put(ObjectNode to, String name) {
    ObjectNode spread = to.putObject(name);
    put(spread, "median", median);
    put(spread, "min", min);
    put(spread, "max", max);
  }

  /** Puts a value rounded to a tenth, or null for NaN. */
  public static void put(ObjectNode to, String name, double value) {
    if (Double.isNaN(value)) {
      to.putNull(name);
    } else {
      to.put(name, Math.round(value * 10) / 10.0);
    }
  }
}
