package dev.warmpath.eventingest.follow;

import dev.warmpath.eventingest.RingFill;
import dev.warmpath.eventingest.follow.IngestOptions.RingLimits;
import dev.warmpath.eventingest.wire.StreamMessage;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What waits for the writer from one engine, first come, first served.
 *
 * <p>Messages have weight and find room or do not; commands always find room. Each engine has a
 * ring of its own, so that one that floods keeps nobody else's messages out. A replay, which can
 * wait, takes at most half of it.
 *
 * <p>Thread-safe.
 */
final class EngineRing {

  /** Whose ring it is: does what waits in it, on the reader's thread. */
  public interface Owner {

    /** Takes a live message. */
    void live(StreamMessage batch);

    /** Something of it has thrown this; what is thrown from here ends the reader. */
    void failed(Throwable thrown);
  }

  /** What waits. */
  sealed interface Entry {

    /** Bytes that need room, or {@link #COMMAND}. */
    long bytes();
  }

  private record Live(StreamMessage batch) implements Entry {
    @Override
    public long bytes() {
      return batch.payload().length;
    }
  }

  private record Work(Runnable work, long bytes) implements Entry {}

  private static final long COMMAND = -1;

  private final RingLimits limits;
  private final RingBytes allBytes;
  private final RingReader reader;
  private final Owner owner;
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
   */
  public EngineRing(RingLimits limits, RingBytes allBytes, RingReader reader, Owner owner) {
    this.limits = limits;
    this.allBytes = allBytes;
    this.reader = reader;
    this.owner = owner;
    allBytes.rings(1);
  }

  /** Adds a command; whether it will be run. */
  public boolean command(Runnable work) {
    lock.lock();
    try {
      return !closed && append(new Work(work, COMMAND));
    } finally {
      lock.unlock();
      reader.wake();
    }
  }

  /** Adds a live message if there is room; who has added some wakes the reader. */
  public boolean add(StreamMessage live) {
    return addIfRoom(new Live(live));
  }

  /** Adds work that takes so many bytes while it waits, if there is room. */
  public boolean offer(Runnable work, int bytesTaken) {
    boolean added = addIfRoom(new Work(work, bytesTaken));
    reader.wake();
    return added;
  }

  /** Adds it as soon as half of the ring is free; false if it never will be. */
  public boolean put(Runnable work, int bytesTaken) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (!closed && !hasRoom(bytesTaken, 2)) {
        emptied.await();
      }
      return !closed && append(new Work(work, bytesTaken));
    } finally {
      lock.unlock();
      reader.wake();
    }
  }

  private boolean addIfRoom(Entry entry) {
    lock.lock();
    try {
      return !closed && hasRoom(entry.bytes(), 1) && append(entry);
    } finally {
      lock.unlock();
    }
  }

  /** Moves up to {@code most} of what waits to {@code into}. */
  void drainTo(List<Entry> into, int most) {
    lock.lock();
    try {
      int before = messages;
      for (Entry entry = entries.peek(); entry != null && into.size() < most; ) {
        entries.remove();
        into.add(entry);
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

  /** Does what was drained; what it throws goes to the owner. */
  void run(Entry entry) {
    try {
      if (entry instanceof Live live) {
        owner.live(live.batch());
      } else if (entry instanceof Work work) {
        work.work().run();
      }
    } catch (RuntimeException | Error e) {
      owner.failed(e);
    }
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
  private boolean hasRoom(long more, int parts) {
    long after = bytes + more;
    return messages == 0
        || (messages < limits.messages() / parts
            && after <= limits.bytes() / parts
            && allBytes.hasRoom(after, more));
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

  /**
   * Reads the rings.
   *
   * <p>Thread-safe.
   */
  interface RingReader {

    /** A ring that was empty has something now. */
    void ready(EngineRing ring);

    /** Wakes the reader now. */
    void wake();
  }

  /**
   * The bytes that wait in all rings together.
   *
   * <p>Thread-safe.
   */
  static final class RingBytes {

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
}
