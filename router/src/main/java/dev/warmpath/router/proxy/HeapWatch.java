package dev.warmpath.router.proxy;

import com.sun.management.GarbageCollectionNotificationInfo;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import javax.management.JMException;
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.NotificationListener;
import javax.management.openmbean.CompositeData;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How full the Java heap is after collections. While it is nearly full new requests are refused, so
 * that the collector is not left to do all the work; if it stays full all the same, the process is
 * beyond help.
 *
 * <p>Thread-safe.
 */
public final class HeapWatch implements AutoCloseable {

  /*
   * What collections report needs no polling. A report holds for a while only: without requests
   * there may be no next collection, so some are let in again and show what the heap is like.
   */

  private static final Logger LOG = LoggerFactory.getLogger(HeapWatch.class);
  private static final double FULL_SHARE = 0.9;
  private static final double DEAD_SHARE = 0.97;
  private static final long REPORT_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final long DEAD_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final int DEAD_COLLECTIONS = 10;

  /** Ends of parts of a collection, in which garbage is not gone yet. */
  private static final String PAUSES = "Pauses";

  private final NotificationListener listener = (notification, handback) -> heard(notification);
  private final Set<String> pools =
      ManagementFactory.getMemoryPoolMXBeans().stream()
          .filter(pool -> pool.getType() == MemoryType.HEAP && !pool.getName().contains("Eden"))
          .map(MemoryPoolMXBean::getName)
          .collect(Collectors.toSet());
  private final LongSupplier nanoClock;
  private final long heapBytes;
  private final Runnable dead;
  private volatile double share;
  private volatile long reportedNanos;
  private long deadSinceNanos;
  private int deadCollections;

  /**
   * A watch that has heard of no collection yet.
   *
   * @param heapBytes the largest heap
   * @param dead called when the heap stays full
   */
  public HeapWatch(LongSupplier nanoClock, long heapBytes, Runnable dead) {
    this.nanoClock = nanoClock;
    this.heapBytes = heapBytes;
    this.dead = dead;
    this.reportedNanos = nanoClock.getAsLong();
  }

  /** Hears of this process' collections from now on. */
  public HeapWatch begin() {
    for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
      if (collector instanceof NotificationEmitter emitter
          && !collector.getName().contains(PAUSES)) {
        emitter.addNotificationListener(listener, null, null);
      }
    }
    return this;
  }

  private void heard(Notification notification) {
    if (notification
            .getType()
            .equals(GarbageCollectionNotificationInfo.GARBAGE_COLLECTION_NOTIFICATION)
        && notification.getUserData() instanceof CompositeData data) {
      Map<String, MemoryUsage> after =
          GarbageCollectionNotificationInfo.from(data).getGcInfo().getMemoryUsageAfterGc();
      long bytes = 0;
      for (String pool : pools) {
        MemoryUsage usage = after.get(pool);
        bytes += usage == null ? 0 : usage.getUsed();
      }
      collected(bytes);
    }
  }

  /** A collection left so many bytes in use. */
  public synchronized void collected(long usedBytes) {
    long now = nanoClock.getAsLong();
    boolean wasFull = isFull();
    share = (double) usedBytes / heapBytes;
    reportedNanos = now;
    if (isFull() && !wasFull) {
      LOG.warn(
          "the heap is nearly full, new requests are refused: {} of {} MiB are in use after a"
              + " collection",
          usedBytes >> 20,
          heapBytes >> 20);
    }
    countDead(now);
  }

  private void countDead(long now) {
    if (share < DEAD_SHARE) {
      deadCollections = 0;
      return;
    }
    deadSinceNanos = deadCollections++ == 0 ? now : deadSinceNanos;
    if (deadCollections >= DEAD_COLLECTIONS && now - deadSinceNanos >= DEAD_NANOS) {
      LOG.error("the heap has been full for {} collections", deadCollections);
      dead.run();
    }
  }

  /** Whether new requests are to be refused. */
  public boolean isFull() {
    return share >= FULL_SHARE && nanoClock.getAsLong() - reportedNanos < REPORT_NANOS;
  }

  /** The part of the heap that was in use after the last collection. */
  public double share() {
    return share;
  }

  @Override
  public void close() {
    for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
      if (collector instanceof NotificationEmitter emitter) {
        remove(emitter);
      }
    }
  }

  private void remove(NotificationEmitter emitter) {
    try {
      emitter.removeNotificationListener(listener);
    } catch (JMException e) {
      LOG.trace("it was not there", e);
    }
  }
}
