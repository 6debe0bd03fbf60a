package dev.warmpath.simulator.study;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * An axis: values to places, linear or logarithmic.
 *
 * @param low the value at {@code from}, above 0 if logarithmic
 * @param high the value at {@code to}
 */
record Scale(double low, double high, double from, double to, boolean logarithmic) {

  /** Values that differ by more than this factor are shown logarithmically. */
  private static final double WIDE = 20;

  private static final double FEW_DECADES = 2.2;
  private static final int TICKS = 5;

  /** The shortest bar of a logarithmic plot is to be seen. */
  private static final double BELOW = 0.8;

  /** From 0 to {@code highest}; from a round value below {@code lowest} if they differ much. */
  static Scale of(double lowest, double highest, double from, double to) {
    double high = highest > 0 ? highest : 1;
    if (lowest > 0 && high / lowest > WIDE) {
      return new Scale(roundBelow(BELOW * lowest), high, from, to, true);
    }
    return new Scale(0, high, from, to, false);
  }

  /** The highest of 1, 2 and 5 times a power of ten that is not above {@code value}. */
  private static double roundBelow(double value) {
    double power = Math.pow(10, Math.floor(Math.log10(value)));
    double digit = value / power;
    return power * (digit >= 5 ? 5 : digit >= 2 ? 2 : 1);
  }

  /** From {@code lowest} to {@code highest}, whatever they are. */
  static Scale between(double lowest, double highest, double from, double to) {
    return highest > lowest
        ? new Scale(lowest, highest, from, to, lowest > 0 && highest / lowest > 3)
        : new Scale(lowest - 1, lowest + 1, from, to, false);
  }

  /** Where a value is; those outside are at the ends. */
  double at(double value) {
    double share =
        logarithmic
            ? Math.log(Math.max(value, low) / low) / Math.log(high / low)
            : (value - low) / (high - low);
    return from + (to - from) * Math.max(0, Math.min(1, share));
  }

  /** Round values on the axis, some five. */
  List<Double> ticks() {
    return logarithmic ? decades() : steps();
  }

  private List<Double> steps() {
    double rough = (high - low) / TICKS;
    double power = Math.pow(10, Math.floor(Math.log10(rough)));
    double step =
        power * (rough / power > 5 ? 10 : rough / power > 2 ? 5 : rough / power > 1 ? 2 : 1);
    List<Double> ticks = new ArrayList<>();
    for (long i = (long) Math.ceil(low / step - 1e-9); i * step <= high * (1 + 1e-9); i++) {
      ticks.add(i * step);
    }
    return ticks;
  }

  private List<Double> decades() {
    boolean few = Math.log10(high / low) < FEW_DECADES;
    List<Double> ticks = new ArrayList<>();
    for (double power = Math.pow(10, Math.floor(Math.log10(low))); power <= high; power *= 10) {
      for (double factor : few ? new double[] {1, 2, 5} : new double[] {1}) {
        if (factor * power >= low * (1 - 1e-9) && factor * power <= high) {
          ticks.add(factor * power);
        }
      }
    }
    return ticks;
  }

  /** A value of the axis, short: 250k. */
  static String label(double value) {
    double size = Math.abs(value);
    if (size >= 1e6) {
      return plain(value / 1e6) + "M";
    }
    return size >= 1e4 ? plain(value / 1e3) + "k" : plain(value);
  }

  private static String plain(double value) {
    String text = String.format(Locale.ROOT, "%.3f", value);
    return text.replaceAll("\\.?0+$", "");
  }
}
