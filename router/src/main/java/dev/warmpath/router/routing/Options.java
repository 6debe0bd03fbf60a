package dev.warmpath.router.routing;

import java.util.Locale;

/** Checks the options of policies. */
public final class Options {

  private Options() {}

  /**
   * Returns the value of an option.
   *
   * @throws IllegalArgumentException if it is not between the two, both included
   */
  public static double require(String option, double value, double least, double most) {
    if (!(value >= least && value <= most)) {
      throw new IllegalArgumentException(
          String.format(
              Locale.ROOT, "%s=%s, must be from %.0f to %.0f", option, value, least, most));
    }
    return value;
  }

  /** Returns the value of an option that must be from 0 to 1,000,000. */
  public static double require(String option, double value) {
    return require(option, value, 0, 1e6);
  }
}
