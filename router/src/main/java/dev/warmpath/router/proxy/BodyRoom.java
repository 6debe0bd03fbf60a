package dev.warmpath.router.proxy;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * The room that request bodies take together, from their first byte until their response begins.
 *
 * <p>Thread-safe.
 */
public final class BodyRoom {

  private final LongSupplier limitBytes;
  private final AtomicLong bytes = new AtomicLong();

  public BodyRoom(LongSupplier limitBytes) {
    this.limitBytes = limitBytes;
  }

  /** Takes so much more, unless there is too little. */
  public boolean take(int more) {
    if (bytes.addAndGet(more) > limitBytes.getAsLong()) {
      bytes.addAndGet(-more);
      return false;
    }
    return true;
  }

  /** Gives back so much. */
  public void give(int less) {
    bytes.addAndGet(-less);
  }

  /** Bytes that are taken. */
  public long bytes() {
    return bytes.get();
  }

  /** Bytes that may be taken. */
  public long limitBytes() {
    return limitBytes.getAsLong();
  }
}
