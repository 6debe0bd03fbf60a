package dev.warmpath.eventingest.transport;

import java.time.Duration;

/**
 * The bounds of replays.
 *
 * @param parallel replays that repair something and run at the same time; half as many more only
 *     make sure that nothing was missed
 * @param idleTimeout longest silence of the engine
 * @param longest time that one replay may take
 * @param batches of one replay
 * @param bytes of one replay's payloads
 */
public record ReplayLimits(
    int parallel, Duration idleTimeout, Duration longest, long batches, long bytes) {

  /** What a router uses. */
  public static final ReplayLimits DEFAULT =
      new ReplayLimits(8, Duration.ofSeconds(2), Duration.ofSeconds(60), 1_000_000, 4L << 30);

  public ReplayLimits {
    if (parallel < 1 || batches < 1 || bytes < 1) {
      throw new IllegalArgumentException(
          "parallel=%d batches=%d bytes=%d".formatted(parallel, batches, bytes));
    }
  }

  /** Checks that run at the same time, so that engines that do not answer hold up no repair. */
  public int parallelChecks() {
    return (parallel + 1) / 2;
  }

  /** The same with other times. */
  public ReplayLimits with(Duration otherIdleTimeout, Duration otherLongest) {
    return new ReplayLimits(parallel, otherIdleTimeout, otherLongest, batches, bytes);
  }
}
