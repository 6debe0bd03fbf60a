package dev.warmpath.kvindex.runs;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The bytes that all arrays of one index take, against a bound.
 *
 * <p>An array that is replaced by a larger one is not counted any more, although it is there until
 * the larger one is filled.
 *
 * <p>Single writer, many readers of {@link #usedBytes}.
 */
public final class ByteBudget {

  private final long maxBytes;
  private final @Nullable ByteBudget whole;
  private final AtomicLong used = new AtomicLong();

  /**
   * @param maxBytes at least 1
   */
  public ByteBudget(long maxBytes) {
    this(maxBytes, null);
  }

  private ByteBudget(long maxBytes, @Nullable ByteBudget whole) {
    if (maxBytes < 1) {
      throw new IllegalArgumentException("maxBytes=" + maxBytes);
    }
    this.maxBytes = maxBytes;
    this.whole = whole;
  }

  /** A bound within this one; what is taken from it is taken from both. */
  public ByteBudget part(long maxBytes) {
    return new ByteBudget(maxBytes, this);
  }

  /** Takes {@code bytes} if they fit and {@code spare} more would; otherwise takes none. */
  boolean take(long bytes, long spare) {
    if (remainingBytes() - bytes < spare) {
      return false;
    }
    used.lazySet(used.getPlain() + bytes);
    return true;
  }

  /** Takes {@code bytes} for which somebody made room before: they cannot be refused half-way. */
  public void force(long bytes) {
    used.lazySet(used.getPlain() + bytes);
    if (whole != null) {
      whole.force(bytes);
    }
  }

  public void give(long bytes) {
    force(-bytes);
  }

  public long usedBytes() {
    return used.get();
  }

  public long maxBytes() {
    return maxBytes;
  }

  /** Bytes that can still be taken; only for the writer. */
  public long remainingBytes() {
    return maxBytes - used.getPlain();
  }
}
