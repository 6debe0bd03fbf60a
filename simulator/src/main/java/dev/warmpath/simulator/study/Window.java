package dev.warmpath.simulator.study;

/**
 * The part of a run whose arrivals are counted.
 *
 * @param untilSeconds the first time that is not counted any more
 */
public record Window(double fromSeconds, double untilSeconds) {

  /** So long after a change. */
  public static final double AFTER_CHANGE_SECONDS = 600;

  /** So long goes on what a window's requests have beside them, until they have their answers. */
  private static final double TAIL_SECONDS = 120;

  /** All from a time on. */
  public static Window from(double seconds) {
    return new Window(seconds, Double.POSITIVE_INFINITY);
  }

  static Window afterChange(double seconds) {
    return new Window(seconds, seconds + AFTER_CHANGE_SECONDS);
  }

  /** What arrives later makes no difference. */
  double playedUntilSeconds() {
    return untilSeconds + TAIL_SECONDS;
  }

  /** Whether it ends before the run does. */
  boolean ends() {
    return untilSeconds < Double.POSITIVE_INFINITY;
  }

  boolean contains(double seconds) {
    return seconds >= fromSeconds && seconds < untilSeconds;
  }
}
