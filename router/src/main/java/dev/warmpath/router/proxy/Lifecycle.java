package dev.warmpath.router.proxy;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntSupplier;

/**
 * Whether the process takes requests, and how many it is serving.
 *
 * <p>Thread-safe.
 */
public final class Lifecycle {

  /** The way from the start to the end has no way back. */
  public enum Stage {
    /** Requests are served, and readiness fails: the process is still warming up. */
    STARTING,
    /** All is well. */
    OPEN,
    /** Readiness fails, requests are still served. */
    LEAVING,
    /** New requests are refused, old ones finish. */
    CLOSING
  }

  private final IntSupplier limit;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private int serving;
  private long entered;
  private volatile Stage stage = Stage.STARTING;

  /**
   * A process that starts.
   *
   * @param limit requests that may be served at a time
   */
  public Lifecycle(IntSupplier limit) {
    this.limit = limit;
  }

  public Stage stage() {
    return stage;
  }

  /** Whether new requests shall go elsewhere. */
  public boolean isLeaving() {
    return stage.compareTo(Stage.LEAVING) >= 0;
  }

  /** Moves on to a later stage. */
  public void advance(Stage next) {
    lock.lock();
    try {
      if (next.compareTo(stage) > 0) {
        stage = next;
      }
    } finally {
      lock.unlock();
    }
  }

  /** Requests from their first byte in to their last byte out. */
  public int serving() {
    lock.lock();
    try {
      return serving;
    } finally {
      lock.unlock();
    }
  }

  /** Requests that may be served at a time. */
  public int limit() {
    return limit.getAsInt();
  }

  /** Lets one more request in, unless there are too many; each that enters leaves once. */
  public boolean enter() {
    lock.lock();
    try {
      boolean fits = serving < limit.getAsInt();
      serving += fits ? 1 : 0;
      entered += fits ? 1 : 0;
      return fits;
    } finally {
      lock.unlock();
    }
  }

  public void leave() {
    lock.lock();
    try {
      serving--;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits until nothing is being served, and no request comes for a while after it: a client may
   * have sent its next one before it knew that this process leaves.
   *
   * @return false if that takes longer than {@code limitMs}
   */
  public boolean awaitQuiet(long limitMs, long quietMs) {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limitMs);
    long before;
    do {
      before = entered();
      if (!awaitEmpty(TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime()))) {
        return false;
      }
      awaitEnd(quietMs);
    } while (before != entered());
    return true;
  }

  private long entered() {
    lock.lock();
    try {
      return entered;
    } finally {
      lock.unlock();
    }
  }

  /** Waits until nothing is being served; false if that takes longer than {@code limitMs}. */
  public boolean awaitEmpty(long limitMs) {
    return await(limitMs, true);
  }

  /** Waits {@code limitMs}, whatever is being served. */
  public void awaitEnd(long limitMs) {
    await(limitMs, false);
  }

  private boolean await(long limitMs, boolean untilEmpty) {
    long left = TimeUnit.MILLISECONDS.toNanos(limitMs);
    lock.lock();
    try {
      while (left > 0 && !(untilEmpty && serving == 0)) {
        left = changed.awaitNanos(left);
      }
      return serving == 0;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return serving == 0;
    } finally {
      lock.unlock();
    }
  }
}
