package dev.warmpath.eventingest.follow;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The bytes that wait in all rings together.
 *
 * <p>Thread-safe.
 */
final class RingBytes {

  private final long maxBytes;
  private final AtomicLong bytes = new AtomicLong();
  private final AtomicInteger rings = new AtomicInteger();

  /**
   * @param maxBytes more than these only for rings that hold less than their share
   */
  public RingBytes(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** One ring more, or less. */
  void rings(int more) {
    rings.addAndGet(more);
  }

  /** Whether a ring that will hold so many bytes finds room for {@code more} of them. */
  boolean hasRoom(long ringBytes, long more) {
    return bytes.get() + more <= maxBytes || ringBytes <= maxBytes / Math.max(1, rings.get());
  }

  void add(long more) {
    bytes.addAndGet(more);
  }
}
