package dev.warmpath.router.logs;

import dev.warmpath.eventingest.capture.CaptureRecord;
import dev.warmpath.eventingest.capture.CaptureRecord.Mark;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What waits to be written, in the order in which it was seen.
 *
 * <p>Whoever offers never waits for the disk. What finds no room is counted, and a mark {@code
 * records-dropped} stands in its place. A stream of which anything but requests was lost is not
 * called quiescent any more until its engine is known to be empty.
 *
 * <p>Thread-safe.
 */
final class TapQueue {

  /** Makes the record when it is about to be written. */
  interface Entry {
    CaptureRecord at(double timeSeconds);
  }

  /** One that waits. */
  record Waiting(double timeSeconds, int stream, RecordKind kind, long bytes, Entry entry) {

    CaptureRecord record() {
      return entry.at(timeSeconds);
    }
  }

  /** What a mark or an entry takes beside its payload. */
  static final long OVERHEAD_BYTES = 200;

  private static final int MAX_RECORDS = 1 << 16;

  private final long maxBytes;
  private final LongSupplier nanoClock;
  private final long beganNanos;
  private final QuietWatch quiet;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition filled = lock.newCondition();
  private final Deque<Waiting> waiting = new ArrayDeque<>();
  private final List<Stream> streams = new ArrayList<>();
  private final long[] dropped = new long[RecordKind.values().length];
  private long bytes;
  private boolean closed;

  /** What was lost of a stream. */
  private static final class Stream {
    private final long[] missing = new long[RecordKind.values().length];
    private boolean unsound;
  }

  /**
   * A queue of no streams yet.
   *
   * @param quiet when they are quiescent
   */
  TapQueue(long maxBytes, LongSupplier nanoClock, QuietWatch quiet) {
    this.maxBytes = maxBytes;
    this.nanoClock = nanoClock;
    this.quiet = quiet;
    beganNanos = nanoClock.getAsLong();
  }

  /** Takes records of the stream with the next number. */
  void add() {
    lock.lock();
    try {
      streams.add(new Stream());
      quiet.add(nanoClock.getAsLong());
    } finally {
      lock.unlock();
    }
  }

  /** Adds a record if there is room; whether there was. */
  boolean offer(int stream, RecordKind kind, long payloadBytes, Entry entry) {
    lock.lock();
    try {
      long size = payloadBytes + OVERHEAD_BYTES;
      boolean fits = waiting.size() < MAX_RECORDS && bytes + size <= maxBytes;
      if (closed || !fits) {
        missed(stream, kind);
        return false;
      }
      markMissing(stream);
      append(new Waiting(seconds(), stream, kind, size, entry));
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** A record of the stream was not kept. */
  void lost(int stream, RecordKind kind) {
    lock.lock();
    try {
      missed(stream, kind);
    } finally {
      lock.unlock();
    }
  }

  /** The stream's engine is empty: what was lost of it no longer matters. */
  void emptied(int stream) {
    lock.lock();
    try {
      streams.get(stream).unsound = false;
    } finally {
      lock.unlock();
    }
  }

  /** Moves up to {@code most} into {@code into}; waits for the first one, but not for long. */
  void drainTo(List<Waiting> into, int most, long waitNanos) throws InterruptedException {
    lock.lock();
    try {
      markQuiet();
      long leftNanos = waitNanos;
      while (waiting.isEmpty() && !closed && leftNanos > 0) {
        leftNanos = filled.awaitNanos(leftNanos);
      }
      for (Waiting next = waiting.poll(); next != null; next = poll(into.size() < most)) {
        bytes -= next.bytes();
        into.add(next);
      }
      if (waiting.isEmpty()) {
        for (int stream = 0; stream < streams.size(); stream++) {
          markMissing(stream);
        }
      }
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

  /** Whether it is closed and empty. */
  boolean isOver() {
    lock.lock();
    try {
      return closed && waiting.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  long bytes() {
    lock.lock();
    try {
      return bytes;
    } finally {
      lock.unlock();
    }
  }

  Map<RecordKind, Long> dropped() {
    Map<RecordKind, Long> counts = new EnumMap<>(RecordKind.class);
    lock.lock();
    try {
      for (RecordKind kind : RecordKind.values()) {
        counts.put(kind, dropped[kind.ordinal()]);
      }
      return counts;
    } finally {
      lock.unlock();
    }
  }

  private @Nullable Waiting poll(boolean wanted) {
    return wanted ? waiting.poll() : null;
  }

  private void missed(int stream, RecordKind kind) {
    Stream of = streams.get(stream);
    of.missing[kind.ordinal()]++;
    dropped[kind.ordinal()]++;
    of.unsound |= kind != RecordKind.REQUEST && kind != RecordKind.RESPONSE;
  }

  /** A mark always finds room: there is one at most before each record. */
  private void markMissing(int stream) {
    long[] counts = streams.get(stream).missing;
    Map<String, @Nullable Object> detail = new LinkedHashMap<>();
    for (RecordKind kind : RecordKind.values()) {
      if (counts[kind.ordinal()] > 0) {
        detail.put(kind.label(), counts[kind.ordinal()]);
      }
    }
    if (!detail.isEmpty()) {
      Arrays.fill(counts, 0);
      mark(stream, "records-dropped", detail);
    }
  }

  private void markQuiet() {
    for (int stream = 0; stream < streams.size(); stream++) {
      if (!streams.get(stream).unsound && quiet.hasBecomeQuiet(stream, nanoClock.getAsLong())) {
        mark(stream, "quiescent", Map.of());
      }
    }
  }

  private void mark(int stream, String name, Map<String, @Nullable Object> detail) {
    append(
        new Waiting(
            seconds(),
            stream,
            RecordKind.MARK,
            OVERHEAD_BYTES,
            time -> new Mark(time, stream, name, detail)));
  }

  private void append(Waiting next) {
    bytes += next.bytes();
    waiting.add(next);
    filled.signal();
  }

  private double seconds() {
    return (nanoClock.getAsLong() - beganNanos) / 1e9;
  }
}
