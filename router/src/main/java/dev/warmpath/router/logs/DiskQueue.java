package dev.warmpath.router.logs;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Entries that wait for the disk, bounded in bytes, and the thread that writes them. Adding never
 * waits for the disk. When the disk refuses or the target has a bug, the entries of that time are
 * dropped, and a file is opened again after half a minute.
 *
 * <p>Thread-safe.
 *
 * @param <E> an entry
 */
final class DiskQueue<E> implements AutoCloseable {

  /**
   * Where entries are written.
   *
   * <p>Confined to the queue's thread once that runs.
   */
  interface Target<E> {

    /** Opens a file. */
    void open() throws IOException;

    /** Brings entries to the system. */
    void write(List<E> entries) throws IOException;

    /** Closes the file if there is one. */
    void close() throws IOException;

    /**
     * These entries were not written, or not all of them.
     *
     * @param isBug whether the disk is not to blame
     */
    void dropped(List<E> entries, boolean isBug);

    /**
     * Called before entries are waited for, but not in the half minute after a failure; may {@link
     * DiskQueue#append}.
     */
    default void beforeTurn() {}
  }

  static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(30);

  private static final Logger LOG = LoggerFactory.getLogger(DiskQueue.class);
  private static final int ENTRIES_A_TURN = 512;
  private static final long PATIENCE_MILLIS = 5_000;

  private record Sized<E>(E entry, long bytes) {}

  private final long maxBytes;
  private final long turnMillis;
  private final ToLongFunction<E> size;
  private final Target<E> target;
  private final LongSupplier nanoClock;
  private final Deque<Sized<E>> waiting = new ArrayDeque<>();
  private long bytes;
  private boolean closed;
  private volatile @Nullable Thread thread;
  private volatile boolean isOpen;
  private long failedNanos;

  /**
   * @param turnMillis the longest time between two {@linkplain Target#beforeTurn turns}; 0: no
   *     limit
   * @param size of an entry in bytes, asked once
   */
  DiskQueue(
      long maxBytes,
      long turnMillis,
      ToLongFunction<E> size,
      Target<E> target,
      LongSupplier nanoClock) {
    this.maxBytes = maxBytes;
    this.turnMillis = turnMillis;
    this.size = size;
    this.target = target;
    this.nanoClock = nanoClock;
  }

  /**
   * Opens the first file and begins to write.
   *
   * @throws IOException if it cannot be opened; then nothing is begun
   */
  void start(String threadName) throws IOException {
    open();
    Thread writer = new Thread(this::run, threadName);
    writer.setDaemon(true);
    writer.start();
    thread = writer;
  }

  void open() throws IOException {
    target.open();
    isOpen = true;
  }

  private void run() {
    try {
      while (writeTurn()) {}
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      closeFile();
    }
  }

  /** Adds an entry if there is room; whether there was. */
  boolean offer(E entry) {
    return offer(List.of(), entry);
  }

  /**
   * Adds an entry if there is room for it, and others ahead of it, which always find room; whether
   * they were added.
   */
  synchronized boolean offer(List<E> ahead, E entry) {
    long entryBytes = size.applyAsLong(entry);
    if (closed || bytes + entryBytes > maxBytes) {
      return false;
    }
    ahead.forEach(this::append);
    add(entry, entryBytes);
    return true;
  }

  /** Adds an entry whether there is room or not; false if the queue is closed. */
  synchronized boolean append(E entry) {
    if (!closed) {
      add(entry, size.applyAsLong(entry));
    }
    return !closed;
  }

  private synchronized void add(E entry, long entryBytes) {
    bytes += entryBytes;
    waiting.add(new Sized<>(entry, entryBytes));
    notifyAll();
  }

  /** Writes what waits, once there is something; false when it is closed and empty. */
  boolean writeTurn() throws InterruptedException {
    if (!isPausing()) {
      beginTurn();
    }
    List<E> turn = take();
    if (turn != null && !turn.isEmpty()) {
      write(turn);
    }
    return turn != null;
  }

  private void beginTurn() {
    try {
      target.beforeTurn();
    } catch (RuntimeException | Error e) {
      failedByBug(List.of(), e);
    }
  }

  @SuppressWarnings("WaitNotInLoop") // an early turn does no harm
  private synchronized @Nullable List<E> take() throws InterruptedException {
    if (waiting.isEmpty() && !closed) {
      wait(turnMillis);
    }
    if (waiting.isEmpty() && closed) {
      return null;
    }
    List<E> turn = new ArrayList<>();
    while (!waiting.isEmpty() && turn.size() < ENTRIES_A_TURN) {
      Sized<E> next = waiting.remove();
      bytes -= next.bytes();
      turn.add(next.entry());
    }
    return turn;
  }

  private void write(List<E> turn) {
    try {
      if (!isOpen && !isPausing()) {
        open();
        LOG.info("{} is written again", target);
      }
      if (isOpen) {
        target.write(turn);
      } else {
        target.dropped(turn, false);
      }
    } catch (IOException e) {
      LOG.warn("nothing is written to {} for a while: {}", target, e.toString());
      failed(turn, false);
    } catch (RuntimeException | Error e) {
      failedByBug(turn, e);
    }
  }

  /** Whether it failed and it is too early to try again. */
  private boolean isPausing() {
    return !isOpen && nanoClock.getAsLong() - failedNanos < RETRY_NANOS;
  }

  private void failedByBug(List<E> turn, Throwable bug) {
    LOG.error("a bug in what writes {}", target, bug);
    failed(turn, true);
  }

  private void failed(List<E> turn, boolean isBug) {
    failedNanos = nanoClock.getAsLong();
    closeFile();
    target.dropped(turn, isBug);
  }

  private void closeFile() {
    isOpen = false;
    try {
      target.close();
    } catch (IOException | RuntimeException e) {
      LOG.warn("{} may lack its end: {}", target, e.toString());
    }
  }

  /** Whether nothing can be written now. */
  boolean isFailing() {
    return !isOpen;
  }

  synchronized boolean isEmpty() {
    return waiting.isEmpty();
  }

  /** Bytes that wait. */
  synchronized long bytes() {
    return bytes;
  }

  long maxBytes() {
    return maxBytes;
  }

  /** Takes nothing more, writes what waits, for some seconds at most, and ends. */
  @Override
  public void close() {
    synchronized (this) {
      closed = true;
      notifyAll();
    }
    Thread writer = thread;
    try {
      if (writer != null) {
        writer.join(PATIENCE_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
