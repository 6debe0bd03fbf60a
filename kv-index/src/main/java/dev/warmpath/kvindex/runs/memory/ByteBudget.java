package dev.warmpath.kvindex.runs.memory;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The bytes that all arrays of one index take, against a bound.
 *
 * <p>Single writer, many readers of {@link #used}.
 */
public final class ByteBudget {

  private final long maxBytes;
  private final AtomicLong used = new AtomicLong();

  /**
   * @param maxBytes at least 1
   */
  public ByteBudget(long maxBytes) {
    if (maxBytes < 1) {
      throw new IllegalArgumentException("maxBytes=" + maxBytes);
    }
    this.maxBytes = maxBytes;
  }

  /** Takes {@code bytes} if they fit; otherwise takes none. */
  boolean take(long bytes) {
    long wanted = used.getPlain() + bytes;
    if (wanted > maxBytes) {
      return false;
    }
    used.lazySet(wanted);
    return true;
  }

  /** Takes {@code bytes} even if they do not fit: for what cannot be refused half-way. */
  public void force(long bytes) {
    used.lazySet(used.getPlain() + bytes);
  }

  public void give(long bytes) {
    used.lazySet(used.getPlain() - bytes);
  }

  public long used() {
    return used.get();
  }

  public long maxBytes() {
    return maxBytes;
  }

  /** Whether more is taken than allowed, which {@link #force} may lead to. */
  public boolean exceeded() {
    return used.getPlain() > maxBytes;
  }
}
