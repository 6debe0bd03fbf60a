package dev.warmpath.kvindex.stopped;

/**
 * Stops a reader before one of its reads, lets something be written, and lets the reader go on; all
 * in one thread.
 *
 * <p>Confined to one thread.
 */
public final class ReadStop {

  private static final Runnable NOTHING = () -> {};

  /** Reads until the stop; 0 for no stop. */
  private static int left;

  private static Runnable write = NOTHING;

  private ReadStop() {}

  /** Reads, and writes just before the read number {@code number}; false if there were fewer. */
  static boolean at(int number, Runnable write, Runnable read) {
    ReadStop.write = write;
    left = number;
    try {
      read.run();
      return left == 0;
    } finally {
      left = 0;
    }
  }

  /** Called before each read of what a writer may change. */
  public static void here() {
    if (left > 0 && --left == 0) {
      write.run();
    }
  }
}
