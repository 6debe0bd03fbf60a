package dev.warmpath.eventingest.ring;

import dev.warmpath.eventingest.RingFill;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * What waits for the writer from one engine, first come, first served.
 *
 * <p>Messages have weight and find room or do not; commands always find room. Each engine has a
 * ring of its own, so that one that floods keeps nobody else's messages out. A replay, which can
 * wait, takes at most half of it.
 *
 * <p>Thread-safe.
 */
public final class EngineRing {

  private record Entry(Runnable work, long bytes) {}

  private static final long COMMAND = -1;

  private final RingLimits limits;
  private final RingBytes allBytes;
  private final RingReader reader;
  private final Consumer<Throwable> failures;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition emptied = lock.newCondition();
  private final Deque<Entry> entries = new ArrayDeque<>();
  private int messages;
  private long bytes;
  private boolean scheduled;
  private boolean closed;

  /**
   * @param allBytes what waits in all rings
   * @param reader is told of the ring when there is something in it and it does not know yet
   * @param failures takes what work of the ring has thrown, on the reader's thread; what it throws
   *     itself ends the reader
   */
  public EngineRing(
      RingLimits limits, RingBytes allBytes, RingReader reader, Consumer<Throwable> failures) {
    this.limits = limits;
    this.allBytes = allBytes;
    this.reader = reader;
    this.failures = failures;
    allBytes.rings(1);
  }

  /** Adds a command; whether it will be run. */
  public boolean command(Runnable work) {
    lock.lock();
    try {
      return !closed && append(new Entry(work, COMMAND));
    } finally {
      lock.unlock();
      reader.wake();
    }
  }

  /** Adds a message if there is room. */
  public boolean offer(Runnable work, int payloadBytes) {
    boolean added = lay(work, payloadBytes);
    reader.wake();
    return added;
  }

  /** The same for one who wakes the reader afterwards, once for many messages. */
  public boolean lay(Runnable work, int payloadBytes) {
    lock.lock();
    try {
      return !closed && hasRoom(payloadBytes, 1) && append(new Entry(work, payloadBytes));
    } finally {
      lock.unlock();
    }
  }

  /** Adds a message as soon as half of the ring is free; false if it never will be. */
  public boolean put(Runnable work, int payloadBytes) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (!closed && !hasRoom(payloadBytes, 2)) {
        emptied.await();
      }
      return !closed && append(new Entry(work, payloadBytes));
    } finally {
      lock.unlock();
      reader.wake();
    }
  }

  /** Moves up to {@code most} of what waits to {@code into}. */
  void drainTo(List<Runnable> into, int most) {
    lock.lock();
    try {
      int before = messages;
      for (Entry entry = entries.peek(); entry != null && into.size() < most; ) {
        entries.remove();
        into.add(entry.work());
        released(entry);
        entry = entries.peek();
      }
      if (messages < before) {
        emptied.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Work of the ring has thrown this. */
  void failed(Throwable thrown) {
    failures.accept(thrown);
  }

  /** The writer has had its turn; whether it should come back. */
  boolean staysScheduled() {
    lock.lock();
    try {
      scheduled = !entries.isEmpty();
      return scheduled;
    } finally {
      lock.unlock();
    }
  }

  /** How full it is. */
  public RingFill fill() {
    lock.lock();
    try {
      return new RingFill(messages, bytes, entries.size() - messages, limits.messages());
    } finally {
      lock.unlock();
    }
  }

  /** Takes nothing more, and drops what waits. */
  public void close() {
    lock.lock();
    try {
      if (!closed) {
        closed = true;
        entries.clear();
        allBytes.add(-bytes);
        allBytes.rings(-1);
        messages = 0;
        bytes = 0;
        emptied.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  /** A message always fits into a ring without any, however large. */
  private boolean hasRoom(int payloadBytes, int parts) {
    long after = bytes + payloadBytes;
    return messages == 0
        || (messages < limits.messages() / parts
            && after <= limits.bytes() / parts
            && allBytes.hasRoom(after, payloadBytes));
  }

  private boolean append(Entry entry) {
    if (entry.bytes() != COMMAND) {
      messages++;
      bytes += entry.bytes();
      allBytes.add(entry.bytes());
    }
    entries.addLast(entry);
    if (!scheduled) {
      scheduled = true;
      reader.ready(this);
    }
    return true;
  }

  private void released(Entry entry) {
    if (entry.bytes() != COMMAND) {
      messages--;
      bytes -= entry.bytes();
      allBytes.add(-entry.bytes());
    }
  }
}
