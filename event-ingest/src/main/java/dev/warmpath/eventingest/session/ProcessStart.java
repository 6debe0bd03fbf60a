package dev.warmpath.eventingest.session;

/**
 * When the engine's process started, and what that proves where no replay does: whether what is
 * suspended, or was restored, is of the process that runs now.
 *
 * <p>Confined to the writer.
 */
final class ProcessStart {

  /** So many must agree: the first may have been asked of the process before. */
  private static final int READINGS = 2;

  /** In seconds since 1970; NaN if nobody knows. */
  private double seconds = Double.NaN;

  /** Readings that must still agree before what is suspended is sure to be of this process. */
  private int readingsToAgree;

  /** Whether the batches that a replay could show may be of another process than what is held. */
  private boolean mixed;

  double seconds() {
    return seconds;
  }

  boolean isKnown() {
    return !Double.isNaN(seconds);
  }

  /** Another process has known it. */
  void restore(double known) {
    seconds = known;
  }

  /** What is suspended from now on may be of another process. */
  void unsure() {
    readingsToAgree = READINGS;
  }

  /** Whether what is suspended is of this process. */
  boolean isSure() {
    return readingsToAgree == 0;
  }

  /** Nothing is held of what was heard before. */
  void cleared() {
    mixed = false;
    readingsToAgree = 0;
  }

  /** A replay was answered, and has shown that the process is the same, or has not. */
  void answered(boolean sameProcess) {
    if (sameProcess && !mixed) {
      readingsToAgree = 0;
    }
    mixed = readingsToAgree > 0;
  }

  /** The process that runs now, and is the one that is followed, started then. */
  void read(double now) {
    readingsToAgree -= readingsToAgree > 0 && seconds == now ? 1 : 0;
    mixed &= readingsToAgree > 0;
    seconds = now;
  }

  /** The next process begins. */
  void end() {
    cleared();
    seconds = Double.NaN;
  }
}
