package dev.warmpath.router.fleet;

import java.util.Collection;

/**
 * How much of an engine's time the prompts of clients have taken in the last minutes, the older the
 * less; also of those that other routers of the cluster have sent.
 *
 * <p>Immutable.
 *
 * @param millis to compute the prompts that came, as it was predicted at dispatch
 * @param firstNanos when the first of them came
 * @param lastNanos when the last of them came
 */
public record PromptUsage(double millis, long firstNanos, long lastNanos) {

  /*
   * Prompts wait since they come unevenly, and a fleet of many engines evens that out: the share of
   * its time that it can give to prompts before they wait for three times as long as they are
   * computed falls short of all by a part that goes with one over the root of the engines, as in any
   * queue with many servers. The factor is fitted to simulated fleets of 4, 8 and 16 engines that play
   * one trace; docs/autoscaling.md says how far it is off with others.
   */

  /** Nothing came. */
  public static final PromptUsage NONE = new PromptUsage(0, 0, 0);

  private static final double WINDOW_NANOS = 300e9;

  /** Less time says nothing. */
  private static final double LEAST_NANOS = 30e9;

  private static final double MILLIS = 1e6;
  private static final double UNEVENNESS = 0.43;

  /** With one prompt more. */
  PromptUsage with(double promptMillis, long nowNanos) {
    return equals(NONE)
        ? new PromptUsage(promptMillis, nowNanos, nowNanos)
        : new PromptUsage(millis * keptShare(nowNanos) + promptMillis, firstNanos, nowNanos);
  }

  /** Without one that came then and was not computed after all. */
  PromptUsage without(double promptMillis, long cameNanos) {
    double left = promptMillis * Math.exp((cameNanos - lastNanos) / WINDOW_NANOS);
    return new PromptUsage(Math.max(0, millis - left), firstNanos, lastNanos);
  }

  private double keptShare(long nowNanos) {
    return Math.exp((lastNanos - nowNanos) / WINDOW_NANOS);
  }

  /** The share of its time that prompts take; 1 and more if they come faster than they can go. */
  public double share(long nowNanos) {
    double seenNanos = WINDOW_NANOS * (1 - Math.exp((firstNanos - nowNanos) / WINDOW_NANOS));
    return millis * MILLIS * keptShare(nowNanos) / Math.max(LEAST_NANOS, seenNanos);
  }

  /**
   * The part of the load that engines bear together which is still free, before the mean time to
   * the first token is four times as long as in an idle fleet: 1 if nothing is under way, below 0
   * beyond; NaN without engines, and before anything came.
   *
   * @param usages of all engines that had prompts
   * @param engines that can have more
   */
  public static double kneeHeadroom(Collection<PromptUsage> usages, int engines, long nowNanos) {
    if (engines == 0 || usages.stream().allMatch(NONE::equals)) {
      return Double.NaN;
    }
    double share =
        usages.stream()
                .filter(usage -> !usage.equals(NONE))
                .mapToDouble(usage -> usage.share(nowNanos))
                .sum()
            / engines;
    return 1 - share / (1 - UNEVENNESS / Math.sqrt(engines));
  }
}
