package dev.warmpath.router.capture;

import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Knows which engines are quiescent: their subscriber is connected, no request of ours and no
 * replay runs there, and nothing has been heard of them for a while.
 *
 * <p>Thread-safe; {@link #hasBecomeQuiet} is the queue's, under its lock.
 */
final class QuietWatch {

  private final long quietNanos;
  private final AtomicIntegerArray running;
  private final AtomicIntegerArray connected;
  private final AtomicLongArray heardNanos;
  private final long[] markedNanos;

  /**
   * @param quietNanos how long the silence must be; {@link Long#MAX_VALUE} for never
   * @param nowNanos when the watch begins
   */
  QuietWatch(int streams, long quietNanos, long nowNanos) {
    this.quietNanos = quietNanos;
    running = new AtomicIntegerArray(streams);
    connected = new AtomicIntegerArray(streams);
    heardNanos = new AtomicLongArray(streams);
    markedNanos = new long[streams];
    for (int stream = 0; stream < streams; stream++) {
      heardNanos.set(stream, nowNanos);
      markedNanos[stream] = nowNanos - 1;
    }
  }

  /** The subscriber is connected, or is not. */
  void connected(int stream, boolean is) {
    connected.set(stream, is ? 1 : 0);
  }

  /** A request or a replay is about to be sent there; to be called before it is recorded. */
  void began(int stream) {
    running.incrementAndGet(stream);
  }

  /** It ended; to be called when that is recorded. */
  void ended(int stream, long nowNanos) {
    heardNanos.set(stream, nowNanos);
    running.decrementAndGet(stream);
  }

  /** Something was heard of the engine. */
  void heard(int stream, long nowNanos) {
    heardNanos.set(stream, nowNanos);
  }

  /** Whether the stream is quiescent and was not since it was last asked. */
  boolean hasBecomeQuiet(int stream, long nowNanos) {
    long heard = heardNanos.get(stream);
    boolean quiet =
        connected.get(stream) == 1
            && running.get(stream) == 0
            && heard != markedNanos[stream]
            && nowNanos - heard >= quietNanos;
    if (quiet) {
      markedNanos[stream] = heard;
    }
    return quiet;
  }
}
