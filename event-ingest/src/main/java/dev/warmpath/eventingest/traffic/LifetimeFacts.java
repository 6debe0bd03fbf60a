package dev.warmpath.eventingest.traffic;

/**
 * What happened in the lifetime of an engine's process that no later event tells again, and on
 * which depends what later events mean.
 *
 * <p>Immutable.
 *
 * @param mayRepeat whether it may have announced again what it announced before
 * @param chunkBlocks how many blocks its offload tiers give back together; {@link #NO_CHUNKS} if
 *     they have described none, 0 if that differs
 * @param hiddenSeen whether a request was sent to it whose name space its events do not show
 * @param watchedFrom the batch from which on all requests were seen; {@link TrafficWatch#NEVER} for
 *     none
 */
public record LifetimeFacts(
    boolean mayRepeat, int chunkBlocks, boolean hiddenSeen, long watchedFrom) {

  /** Offload tiers have described no chunk. */
  public static final int NO_CHUNKS = -1;

  public LifetimeFacts {
    if (chunkBlocks < NO_CHUNKS || watchedFrom < 0) {
      throw new IllegalArgumentException(
          "chunkBlocks=%d watchedFrom=%d".formatted(chunkBlocks, watchedFrom));
    }
  }

  /** The same, known by somebody who cannot have seen the requests that came later. */
  public LifetimeFacts unwatched() {
    return new LifetimeFacts(mayRepeat, chunkBlocks, hiddenSeen, TrafficWatch.NEVER);
  }
}
