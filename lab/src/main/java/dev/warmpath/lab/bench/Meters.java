package dev.warmpath.lab.bench;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The clocks and counters of the machine and the JVM.
 *
 * <p>Thread-safe.
 */
public final class Meters {

  private static final int COLLECTIONS = 4;
  private static final int BATCHES = 20;
  private static final int READINGS = 50_000;

  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private final OperatingSystemMXBean process =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  /** Wall clock. */
  public long nanos() {
    return System.nanoTime();
  }

  /** CPU time of the calling thread. */
  public long threadCpuNanos() {
    return threads.getCurrentThreadCpuTime();
  }

  /** The threads that run now. */
  public Set<Long> threads() {
    return Arrays.stream(threads.getAllThreadIds()).boxed().collect(Collectors.toUnmodifiableSet());
  }

  /** CPU time of the threads that run now and are not among these. */
  public long cpuNanosOfThreadsBut(Set<Long> others) {
    return Arrays.stream(threads.getAllThreadIds())
        .filter(thread -> !others.contains(thread))
        .map(threads::getThreadCpuTime)
        .filter(nanos -> nanos > 0)
        .sum();
  }

  /** CPU time of all threads, those of the collector and the compiler too. */
  public long processCpuNanos() {
    return process.getProcessCpuTime();
  }

  /** Bytes that the calling thread has allocated. */
  public long allocatedBytes() {
    return threads.getCurrentThreadAllocatedBytes();
  }

  /** Bytes on the heap that are reachable. */
  public long liveHeapBytes() {
    long bytes = Long.MAX_VALUE;
    for (int i = 0; i < COLLECTIONS; i++) {
      System.gc();
      bytes = Math.min(bytes, ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
    }
    return bytes;
  }

  /**
   * What one reading of {@link #nanos} costs when nobody interferes; every measured query includes
   * it once.
   */
  public double nanosPerReading() {
    double least = Double.MAX_VALUE;
    for (int batch = 0; batch < BATCHES; batch++) {
      long begin = nanos();
      long last = begin;
      for (int i = 0; i < READINGS; i++) {
        last = nanos();
      }
      least = Math.min(least, (double) (last - begin) / READINGS);
    }
    return least;
  }
}
