package dev.warmpath.router.logs;

import dev.warmpath.kvindex.block.BlockChain;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Decisions that wait for the disk, bounded in bytes. Adding never waits for the disk.
 *
 * <p>Thread-safe.
 */
final class LogQueue {

  /** Why a record was dropped. */
  enum DropCause {
    /** Too many bytes waited for the disk. */
    QUEUE_FULL,
    /** The disk is full, or the file cannot be written. */
    DISK,
    /** A bug of the router. */
    FAILURE;

    /** The name in metrics. */
    String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * A decision that waits.
   *
   * @param arrivedMillis when the request came, since 1970
   * @param pieces the prompt's {@link PromptPieces}, null if they are not known or not logged
   */
  record Waiting(long arrivedMillis, Decision decision, @Nullable BlockChain pieces) {

    private static final long PIECE_BYTES = 2 * Long.BYTES;

    /** About as many bytes as it takes in memory. */
    long bytes() {
      return decision.bytes() + (pieces == null ? 0 : pieces.blocks() * PIECE_BYTES);
    }
  }

  private final long maxBytes;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition filled = lock.newCondition();
  private final Deque<Waiting> waiting = new ArrayDeque<>();
  private final Map<DropCause, Long> dropped = new EnumMap<>(DropCause.class);
  private long bytes;
  private boolean closed;

  LogQueue(long maxBytes) {
    this.maxBytes = maxBytes;
    for (DropCause cause : DropCause.values()) {
      dropped.put(cause, 0L);
    }
  }

  /** Adds a decision, or drops it if there is no room. */
  void offer(Waiting next) {
    lock.lock();
    try {
      if (closed || bytes + next.bytes() > maxBytes) {
        dropped(DropCause.QUEUE_FULL, 1);
        return;
      }
      bytes += next.bytes();
      waiting.add(next);
      filled.signal();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Moves up to {@code most} into {@code into}, waiting for the first one.
   *
   * @return false once the queue is closed and empty
   */
  boolean drainTo(List<Waiting> into, int most) throws InterruptedException {
    lock.lock();
    try {
      while (waiting.isEmpty() && !closed) {
        filled.await();
      }
      while (!waiting.isEmpty() && into.size() < most) {
        Waiting next = waiting.remove();
        bytes -= next.bytes();
        into.add(next);
      }
      return !into.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  /** So many decisions that were taken out of it were dropped. */
  void dropped(DropCause cause, int count) {
    lock.lock();
    try {
      dropped.merge(cause, (long) count, Long::sum);
    } finally {
      lock.unlock();
    }
  }

  /** How many decisions were dropped. */
  Map<DropCause, Long> dropped() {
    lock.lock();
    try {
      return new EnumMap<>(dropped);
    } finally {
      lock.unlock();
    }
  }

  /** Takes nothing more. */
  void close() {
    lock.lock();
    try {
      closed = true;
      filled.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Bytes that wait. */
  long bytes() {
    lock.lock();
    try {
      return bytes;
    } finally {
      lock.unlock();
    }
  }

  long maxBytes() {
    return maxBytes;
  }
}
