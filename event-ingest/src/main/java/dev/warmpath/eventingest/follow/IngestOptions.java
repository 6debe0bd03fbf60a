package dev.warmpath.eventingest.follow;

import dev.warmpath.eventingest.stream.StreamLimits;
import dev.warmpath.eventingest.transport.ReplayLimits;

/**
 * The bounds of a whole fleet's event streams.
 *
 * @param pollers threads that poll the engines' live sockets
 * @param ring between an engine's sockets and the index
 * @param replay of missed batches
 * @param backoff between replays that fail
 * @param stream the bounds of each engine's stream
 */
public record IngestOptions(
    int pollers, RingLimits ring, ReplayLimits replay, BackoffLimits backoff, StreamLimits stream) {

  private static final int CORES_A_POLLER = 4;

  /** What a router uses. */
  public static final IngestOptions DEFAULT =
      new IngestOptions(
          pollersOf(Runtime.getRuntime().availableProcessors()),
          RingLimits.DEFAULT,
          ReplayLimits.DEFAULT,
          BackoffLimits.DEFAULT,
          StreamLimits.DEFAULT);

  public IngestOptions {
    if (pollers < 1) {
      throw new IllegalArgumentException("pollers=" + pollers);
    }
  }

  /** How many pollers keep up on a machine of so many cores. */
  public static int pollersOf(int cores) {
    return Math.max(1, cores / CORES_A_POLLER);
  }

  /** The same with other rings. */
  public IngestOptions with(RingLimits otherRing) {
    return new IngestOptions(pollers, otherRing, replay, backoff, stream);
  }
}
