package dev.warmpath.lab.bench;

/**
 * CPU time that some processes have used so far, read twice: exact but rough, and fine but without
 * threads that have ended.
 *
 * @param tickNanos user and system time of the processes, ended threads included, in whole clock
 *     ticks
 * @param threadNanos time on a processor of the threads that live, to the nanosecond; {@link
 *     #ABSENT} where the kernel keeps no such statistics
 */
public record CpuTime(long tickNanos, long threadNanos) {

  /** Linux shows times in hundredths of a second, whatever its own clock does. */
  static final long NANOS_PER_TICK = 10_000_000;

  static final long ABSENT = -1;

  /** User and system time are rounded down, at either end of a measurement. */
  private static final long ROUNDING_NANOS = 2 * NANOS_PER_TICK;

  /** Of processes that have not run. */
  public static final CpuTime ZERO = new CpuTime(0, 0);

  CpuTime plus(CpuTime other) {
    boolean fine = threadNanos != ABSENT && other.threadNanos != ABSENT;
    return new CpuTime(
        tickNanos + other.tickNanos, fine ? threadNanos + other.threadNanos : ABSENT);
  }

  /**
   * Nanoseconds of CPU time since {@code begin}: the fine figure if it agrees with the rough one,
   * else the rough one, as threads have ended in between.
   */
  public long nanosSince(CpuTime begin) {
    long rough = tickNanos - begin.tickNanos;
    if (threadNanos == ABSENT || begin.threadNanos == ABSENT) {
      return rough;
    }
    long fine = threadNanos - begin.threadNanos;
    return fine >= 0 && Math.abs(fine - rough) <= ROUNDING_NANOS ? fine : rough;
  }
}
