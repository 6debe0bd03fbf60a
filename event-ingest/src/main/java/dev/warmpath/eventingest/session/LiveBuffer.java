package dev.warmpath.eventingest.session;

import dev.warmpath.eventingest.session.BatchDigests.Verdict;
import dev.warmpath.eventingest.wire.StreamMessage;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Live batches that wait for the end of a replay, in the order of their numbers.
 *
 * <p>Confined to the writer; {@link #waiting} may be asked by any thread.
 */
final class LiveBuffer {

  private final int maxBatches;
  private final long maxBytes;
  private final Deque<StreamMessage> batches = new ArrayDeque<>();
  private long bytes;
  private volatile int waiting;

  LiveBuffer(StreamLimits limits) {
    maxBatches = limits.bufferedBatches();
    maxBytes = limits.bufferedBytes();
  }

  /** How many batches wait. */
  int waiting() {
    return waiting;
  }

  /** Whether there was room. */
  boolean add(StreamMessage batch) {
    if (batches.size() >= maxBatches || bytes + batch.payload().length > maxBytes) {
      return false;
    }
    bytes += batch.payload().length;
    batches.addLast(batch);
    waiting = batches.size();
    return true;
  }

  /** Puts back what {@link #poll} took; there is always room for that. */
  void putBack(StreamMessage batch) {
    bytes += batch.payload().length;
    batches.addFirst(batch);
    waiting = batches.size();
  }

  @Nullable StreamMessage poll() {
    StreamMessage first = batches.pollFirst();
    if (first != null) {
      bytes -= first.payload().length;
      waiting = batches.size();
    }
    return first;
  }

  @Nullable StreamMessage first() {
    return batches.peekFirst();
  }

  /** How a batch stands to the last one: UNKNOWN if it may come next. */
  Verdict compare(StreamMessage batch) {
    StreamMessage last = batches.peekLast();
    return last == null || batch.sequence() > last.sequence()
        ? Verdict.UNKNOWN
        : BatchDigests.compare(last, batch);
  }

  void clear() {
    batches.clear();
    bytes = 0;
    waiting = 0;
  }
}
