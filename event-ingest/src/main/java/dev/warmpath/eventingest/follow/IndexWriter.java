package dev.warmpath.eventingest.follow;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread that writes the index: takes the rings that have something in turns, a bounded
 * number of messages each.
 *
 * <p>What work throws goes to its ring's owner, and the writer goes on. What that cannot cope with,
 * and what the tick throws, ends the writer: the index may be wrong then.
 *
 * <p>Thread-safe.
 */
final class IndexWriter implements Runnable, EngineRing.RingReader {

  private static final Logger LOG = LoggerFactory.getLogger(IndexWriter.class);
  private static final int MESSAGES_A_TURN = 64;
  private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final Queue<EngineRing> ready = new ConcurrentLinkedQueue<>();
  private final List<EngineRing.Entry> turn = new ArrayList<>();
  private final Runnable tick;
  private volatile @Nullable Thread parked;
  private volatile boolean closed;
  private volatile boolean began;
  private volatile boolean ended;
  private volatile long turnedNanos = System.nanoTime();

  /**
   * @param tick is run about ten times a second
   */
  public IndexWriter(Runnable tick) {
    this.tick = tick;
  }

  @Override
  public void ready(EngineRing ring) {
    ready.add(ring);
  }

  /** Ends {@link #run} soon. */
  public void close() {
    closed = true;
    wake();
  }

  @Override
  public void wake() {
    Thread sleeper = parked;
    if (sleeper != null) {
      LockSupport.unpark(sleeper);
    }
  }

  /** Whether it takes no more turns, whatever the reason. */
  public boolean hasEnded() {
    return ended;
  }

  /**
   * Nanoseconds since it began its last turn, 0 before the first; beyond a tick's time it is busy,
   * stuck or ended.
   */
  public long stalledNanos() {
    return began ? System.nanoTime() - turnedNanos : 0;
  }

  @Override
  public void run() {
    try {
      takeTurns();
    } catch (RuntimeException | Error e) {
      LOG.error("the index writer ends: no engine's events reach the index any more", e);
      if (e instanceof VirtualMachineError full) {
        ended = true;
        throw full; // the process may want to end too
      }
    } finally {
      ended = true;
    }
  }

  private void takeTurns() {
    long tickedNanos = System.nanoTime();
    while (!closed) {
      turnedNanos = System.nanoTime();
      began = true;
      EngineRing ring = ready.poll();
      if (ring != null) {
        serve(ring);
      } else {
        park(TICK_NANOS - (System.nanoTime() - tickedNanos));
      }
      if (System.nanoTime() - tickedNanos >= TICK_NANOS) {
        tickedNanos = System.nanoTime();
        tick.run();
      }
    }
  }

  private void serve(EngineRing ring) {
    ring.drainTo(turn, MESSAGES_A_TURN);
    for (EngineRing.Entry entry : turn) {
      if (!closed) {
        ring.run(entry);
      }
    }
    turn.clear();
    if (ring.staysScheduled()) {
      ready.add(ring);
    }
  }

  private void park(long nanos) {
    parked = Thread.currentThread();
    if (ready.isEmpty() && !closed && nanos > 0) {
      LockSupport.parkNanos(this, nanos);
    }
    parked = null;
  }
}
