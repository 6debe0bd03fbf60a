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

  /**
   * The bounds of the wait before an engine is asked again that did not answer a replay to its end.
   *
   * @param firstMillis after the first failure, at most; 0 asks again at once
   * @param longestMillis after any
   */
  public record BackoffLimits(long firstMillis, long longestMillis) {

    /** What a router uses. */
    public static final BackoffLimits DEFAULT = new BackoffLimits(250, 8_000);

    public BackoffLimits {
      if (firstMillis < 0 || longestMillis < firstMillis) {
        throw new IllegalArgumentException(
            "firstMillis=%d longestMillis=%d".formatted(firstMillis, longestMillis));
      }
    }
  }

  /**
   * The bounds of what waits between sockets and index.
   *
   * @param messages of one engine
   * @param bytes of one engine's payloads, and of one message
   * @param totalBytes of all engines' payloads; an engine that holds less than its share of these
   *     finds room all the same, so all together stay below twice as many
   */
  public record RingLimits(int messages, long bytes, long totalBytes) {

    /** What a router uses. */
    public static final RingLimits DEFAULT = new RingLimits(4_096, 16L << 20, 256L << 20);

    public RingLimits {
      if (messages < 2 || bytes < 1 || totalBytes < 1) {
        throw new IllegalArgumentException(
            "messages=%d bytes=%d totalBytes=%d".formatted(messages, bytes, totalBytes));
      }
    }
  }
}
