package dev.warmpath.eventingest.ring;

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
 * <p>{@link #ready} and {@link #wake} may be called by any thread, the rest belongs to the writer.
 *
 * <p>Thread-safe.
 */
public final class IndexWriter implements Runnable, RingReader {

  private static final Logger LOG = LoggerFactory.getLogger(IndexWriter.class);
  private static final int MESSAGES_A_TURN = 64;
  private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final Queue<EngineRing> ready = new ConcurrentLinkedQueue<>();
  private final List<Runnable> turn = new ArrayList<>();
  private final Runnable tick;
  private volatile @Nullable Thread parked;
  private volatile boolean closed;

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

  @Override
  public void run() {
    long tickedNanos = System.nanoTime();
    while (!closed) {
      EngineRing ring = ready.poll();
      if (ring != null) {
        serve(ring);
      } else {
        park(TICK_NANOS - (System.nanoTime() - tickedNanos));
      }
      if (System.nanoTime() - tickedNanos >= TICK_NANOS) {
        tickedNanos = System.nanoTime();
        guarded(tick);
      }
    }
  }

  private void serve(EngineRing ring) {
    ring.drainTo(turn, MESSAGES_A_TURN);
    for (Runnable work : turn) {
      if (!closed) {
        guarded(work);
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

  private static void guarded(Runnable work) {
    try {
      work.run();
    } catch (RuntimeException e) {
      LOG.error("a bug in the write path", e);
    }
  }
}
