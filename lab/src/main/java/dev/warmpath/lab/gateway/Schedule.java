package dev.warmpath.lab.gateway;

/**
 * The instants at which requests are due, evenly spaced, fixed before the first is sent.
 *
 * @param beginNanos when request 0 is due, by the clock of the load
 * @param perSecond requests a second
 * @param count requests in all
 */
record Schedule(long beginNanos, double perSecond, int count) {

  Schedule {
    if (!(perSecond > 0) || count < 1) {
      throw new IllegalArgumentException("perSecond=%s count=%d".formatted(perSecond, count));
    }
  }

  /** When request {@code number} is due; {@link #count} for the end of the load. */
  long dueNanos(int number) {
    return beginNanos + Math.round(number * (1e9 / perSecond));
  }
}
