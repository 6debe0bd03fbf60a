package dev.warmpath.eventingest.follow;

import dev.warmpath.eventingest.stream.StreamLimits;
import java.time.Duration;

/**
 * The bounds of a whole fleet's event streams.
 *
 * <p>Immutable.
 *
 * @param queuedMessages messages of all engines between sockets and index
 * @param queuedBytes their payloads together
 * @param parallelReplays replays that run at the same time
 * @param replayIdleTimeout silence after which a replay is given up
 * @param stream the bounds of each engine's stream
 */
public record IngestOptions(
    int queuedMessages,
    long queuedBytes,
    int parallelReplays,
    Duration replayIdleTimeout,
    StreamLimits stream) {

  /** What a router uses. */
  public static final IngestOptions DEFAULT =
      new IngestOptions(65_536, 256L << 20, 8, Duration.ofSeconds(2), StreamLimits.DEFAULT);

  public IngestOptions {
    if (queuedMessages < 1 || queuedBytes < 1 || parallelReplays < 1) {
      throw new IllegalArgumentException(
          "queuedMessages=%d queuedBytes=%d parallelReplays=%d"
              .formatted(queuedMessages, queuedBytes, parallelReplays));
    }
  }
}
