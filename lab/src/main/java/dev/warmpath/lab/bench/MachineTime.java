package dev.warmpath.lab.bench;

/**
 * Time of all processors of the machine so far.
 *
 * @param busyTicks of these, those in which a processor had work
 */
public record MachineTime(long busyTicks, long ticks) {

  /** Share of the processors that had work since {@code begin}, 0 to 1. */
  public double busyShareSince(MachineTime begin) {
    return (double) (busyTicks - begin.busyTicks) / Math.max(1, ticks - begin.ticks);
  }
}
