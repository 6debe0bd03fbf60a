package dev.warmpath.router.logs;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Knows which engines are quiescent: their subscriber is connected, no request of ours and no
 * replay runs there, and nothing has been heard of them for a while.
 *
 * <p>Thread-safe; {@link #hasBecomeQuiet} and {@link #unmarked} are the queue's, under its lock.
 */
final class QuietWatch {

  private static final class Stream {
    private final AtomicInteger running = new AtomicInteger();
    private volatile boolean connected;
    private volatile long heardNanos;
    private long markedNanos;

    Stream(long nowNanos) {
      heardNanos = nowNanos;
      markedNanos = nowNanos - 1;
    }
  }

  private final long quietNanos;
  private final List<Stream> streams = new CopyOnWriteArrayList<>();

  /**
   * A watch over nothing yet.
   *
   * @param quietNanos how long the silence must be; {@link Long#MAX_VALUE} for never
   */
  QuietWatch(long quietNanos) {
    this.quietNanos = quietNanos;
  }

  /** Watches the stream with the next number. */
  void add(long nowNanos) {
    streams.add(new Stream(nowNanos));
  }

  /** How many streams it watches. */
  int count() {
    return streams.size();
  }

  /** The subscriber is connected, or is not. */
  void connected(int stream, boolean is) {
    streams.get(stream).connected = is;
  }

  /** A request or a replay is about to be sent there; to be called before it is recorded. */
  void began(int stream) {
    streams.get(stream).running.incrementAndGet();
  }

  /** It ended; to be called when that is recorded. */
  void ended(int stream, long nowNanos) {
    Stream ended = streams.get(stream);
    ended.heardNanos = nowNanos;
    ended.running.decrementAndGet();
  }

  /** Something was heard of the engine. */
  void heard(int stream, long nowNanos) {
    streams.get(stream).heardNanos = nowNanos;
  }

  /** Whether the stream is quiescent and was not since it was last asked. */
  boolean hasBecomeQuiet(int stream, long nowNanos) {
    Stream asked = streams.get(stream);
    long heard = asked.heardNanos;
    boolean quiet =
        asked.connected
            && asked.running.get() == 0
            && heard != asked.markedNanos
            && nowNanos - heard >= quietNanos;
    if (quiet) {
      asked.markedNanos = heard;
    }
    return quiet;
  }

  /** What was last said of the stream's silence was lost: it is said again if it still lasts. */
  void unmarked(int stream) {
    Stream of = streams.get(stream);
    of.markedNanos = of.heardNanos - 1;
  }
}
