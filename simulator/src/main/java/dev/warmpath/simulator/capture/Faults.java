package dev.warmpath.simulator.capture;

import java.time.Duration;

/**
 * How often what goes wrong.
 *
 * @param drop share of messages that do not arrive, from 0 to 1
 * @param duplicate share that comes twice
 * @param reorder share that comes behind the next one
 * @param corrupt share that is cut in the middle
 * @param restartAt after so many messages of a stream its numbers begin at 0 again; 0 for never
 * @param delay each message is late by up to this
 * @param seed of the choice; the same for the same messages to be hit
 */
public record Faults(
    double drop,
    double duplicate,
    double reorder,
    double corrupt,
    long restartAt,
    Duration delay,
    long seed) {

  /** All goes well. */
  public static final Faults NONE = new Faults(0, 0, 0, 0, 0, Duration.ZERO, 0);

  public Faults {
    checkShare("drop", drop);
    checkShare("duplicate", duplicate);
    checkShare("reorder", reorder);
    checkShare("corrupt", corrupt);
    if (restartAt < 0 || delay.isNegative()) {
      throw new IllegalArgumentException("restartAt=" + restartAt + " delay=" + delay);
    }
  }

  /** Only losses. */
  public static Faults dropping(double share, long seed) {
    return new Faults(share, 0, 0, 0, 0, Duration.ZERO, seed);
  }

  private static void checkShare(String name, double share) {
    if (!(share >= 0 && share <= 1)) {
      throw new IllegalArgumentException(name + "=" + share + ": must be from 0 to 1");
    }
  }
}
