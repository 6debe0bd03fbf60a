package dev.warmpath.eventingest.stream;

import java.time.Duration;

/**
 * The bounds of one engine's stream.
 *
 * @param bufferedBatches live batches kept while a replay runs
 * @param bufferedBytes their payloads together
 * @param replayAttempts replays without progress until the missing batches are given up
 * @param replayCooldown time after that in which the engine is not asked again
 * @param checkInterval silence after which the replay socket is asked whether all is known
 */
public record StreamLimits(
    int bufferedBatches,
    long bufferedBytes,
    int replayAttempts,
    Duration replayCooldown,
    Duration checkInterval) {

  /** What a router uses. */
  public static final StreamLimits DEFAULT =
      new StreamLimits(16_384, 64L << 20, 3, Duration.ofSeconds(30), Duration.ofSeconds(30));

  public StreamLimits {
    if (bufferedBatches < 1 || bufferedBytes < 1 || replayAttempts < 1) {
      throw new IllegalArgumentException(
          "bufferedBatches=%d bufferedBytes=%d replayAttempts=%d"
              .formatted(bufferedBatches, bufferedBytes, replayAttempts));
    }
  }

  /** The same with another bound on the bytes kept. */
  public StreamLimits with(long otherBufferedBytes) {
    return new StreamLimits(
        bufferedBatches, otherBufferedBytes, replayAttempts, replayCooldown, checkInterval);
  }
}
