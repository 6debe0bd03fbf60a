package dev.warmpath.router.tokenize;

import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How comparisons of one model went.
 *
 * <p>Thread-safe.
 */
public final class ParityStatus {

  private final Map<ParityResult, Long> counts = new EnumMap<>(ParityResult.class);
  private @Nullable TokenDifference last;
  private int equalInARow;

  ParityStatus() {
    for (ParityResult result : ParityResult.values()) {
      counts.put(result, 0L);
    }
  }

  synchronized void count(ParityResult result) {
    counts.merge(result, 1L, Long::sum);
    if (result == ParityResult.EQUAL) {
      equalInARow++;
    } else if (result == ParityResult.DIFFERENT) {
      equalInARow = 0;
    }
  }

  synchronized void differed(TokenDifference difference) {
    last = difference;
  }

  synchronized void beginAnew() {
    equalInARow = 0;
  }

  /** Comparisons without a difference since the last one, or since {@link #beginAnew}. */
  synchronized int equalInARow() {
    return equalInARow;
  }

  /** Comparisons by their result. */
  public synchronized Map<ParityResult, Long> counts() {
    return new EnumMap<>(counts);
  }

  /** The last difference that was seen; null if none was. */
  public synchronized @Nullable TokenDifference last() {
    return last;
  }
}
