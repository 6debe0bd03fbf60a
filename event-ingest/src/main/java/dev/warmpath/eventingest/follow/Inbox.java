package dev.warmpath.eventingest.follow;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The work that waits for the writer, first come, first served.
 *
 * <p>Messages have weight and find room or do not; commands always find room.
 *
 * <p>Thread-safe.
 */
final class Inbox {

  private record Entry(Runnable work, long bytes) {}

  private static final long COMMAND = -1;

  private final int maxMessages;
  private final long maxBytes;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition filled = lock.newCondition();
  private final Condition emptied = lock.newCondition();
  private final Deque<Entry> entries = new ArrayDeque<>();
  private int messages;
  private long bytes;
  private boolean closed;

  Inbox(int maxMessages, long maxBytes) {
    this.maxMessages = maxMessages;
    this.maxBytes = maxBytes;
  }

  /** Adds a command; whether it will be run. */
  boolean command(Runnable work) {
    lock.lock();
    try {
      return !closed && append(new Entry(work, COMMAND));
    } finally {
      lock.unlock();
    }
  }

  /** Adds a message if there is room. */
  boolean offer(Runnable work, int payloadBytes) {
    lock.lock();
    try {
      return !closed && hasRoom(payloadBytes) && append(new Entry(work, payloadBytes));
    } finally {
      lock.unlock();
    }
  }

  /** Adds a message as soon as there is room; false if it never will be. */
  boolean put(Runnable work, int payloadBytes) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (!closed && !hasRoom(payloadBytes)) {
        emptied.await();
      }
      return !closed && append(new Entry(work, payloadBytes));
    } finally {
      lock.unlock();
    }
  }

  /** The next work, or null if there is none for so long. */
  @Nullable Runnable poll(long timeoutMillis) throws InterruptedException {
    long left = TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
    lock.lockInterruptibly();
    try {
      while (entries.isEmpty() && left > 0) {
        left = filled.awaitNanos(left);
      }
      return take();
    } finally {
      lock.unlock();
    }
  }

  /** Messages waiting. */
  int messages() {
    lock.lock();
    try {
      return messages;
    } finally {
      lock.unlock();
    }
  }

  /** Takes nothing more, and drops what waits. */
  void close() {
    lock.lock();
    try {
      closed = true;
      entries.clear();
      filled.signalAll();
      emptied.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** A message always fits into an empty inbox, however large. */
  private boolean hasRoom(int payloadBytes) {
    return messages == 0 || (messages < maxMessages && bytes + payloadBytes <= maxBytes);
  }

  private boolean append(Entry entry) {
    if (entry.bytes() != COMMAND) {
      messages++;
      bytes += entry.bytes();
    }
    entries.addLast(entry);
    filled.signal();
    return true;
  }

  private @Nullable Runnable take() {
    Entry entry = entries.pollFirst();
    if (entry == null) {
      return null;
    }
    if (entry.bytes() != COMMAND) {
      messages--;
      bytes -= entry.bytes();
      emptied.signal();
    }
    return entry.work();
  }
}
