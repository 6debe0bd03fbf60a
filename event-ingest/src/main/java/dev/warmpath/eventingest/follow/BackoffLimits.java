package dev.warmpath.eventingest.follow;

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
