package dev.warmpath.router.proxy;

import com.sun.management.GarbageCollectionNotificationInfo;
import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
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
 * beyond help. What it took from the machine in hard times and does not need is given back.
 *
 * <p>Thread-safe.
 */
public final class HeapWatch implements AutoCloseable {

  /*
   * What collections report needs no polling. A report holds for a while only: without requests
   * there may be no next collection, so some are let in again and show what the heap is like.
   *
   * G1 grows when collections take long, also where that is because others have the processors, and
   * shrinks at the end of a concurrent cycle, which a large and empty heap has no reason to begin.
   */

  private static final Logger LOG = LoggerFactory.getLogger(HeapWatch.class);
  private static final double FULL_SHARE = 0.9;
  private static final double DEAD_SHARE = 0.97;
  private static final long REPORT_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final long DEAD_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final int DEAD_COLLECTIONS = 10;

  /** A heap of which less is in use for so long is too large, if it is not small. */
  private static final double WIDE_SHARE = 0.25;

  private static final long WIDE_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final long SMALL_BYTES = 256L << 20;

  private static final AtomicBoolean SHRINKING = new AtomicBoolean();

  /** Ends of parts of a collection, in which garbage is not gone yet. */
  private static final String PAUSES = "Pauses";

  private final NotificationListener listener = (notification, handback) -> heard(notification);
  private final Set<String> pools =
      ManagementFactory.getMemoryPoolMXBeans().stream()
          .filter(pool -> pool.getType() == MemoryType.HEAP)
          .map(MemoryPoolMXBean::getName)
          .collect(Collectors.toSet());
  private final LongSupplier nanoClock;
  private final long heapBytes;
  private final Runnable dead;
  private final Runnable shrink;
  private volatile double share;
  private volatile long reportedNanos;
  private long deadSinceNanos;
  private int deadCollections;
  private boolean isWide;
  private long wideSinceNanos;

  /**
   * A watch that has heard of no collection yet.
   *
   * @param heapBytes the largest heap
   * @param dead called when the heap stays full
   * @param shrink called when it stays much larger than what is in use, at most once a minute
   */
  public HeapWatch(LongSupplier nanoClock, long heapBytes, Runnable dead, Runnable shrink) {
    this.nanoClock = nanoClock;
    this.heapBytes = heapBytes;
    this.dead = dead;
    this.shrink = shrink;
    this.reportedNanos = nanoClock.getAsLong();
  }

  /**
   * Has the collector begin a concurrent cycle, at whose end it gives memory back; does nothing
   * where that would stop the process meanwhile ({@code -XX:-ExplicitGCInvokesConcurrent}).
   */
  public static void shrink() {
    HotSpotDiagnosticMXBean jvm =
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
    if (isSet(jvm, "UseG1GC")
        && isSet(jvm, "ExplicitGCInvokesConcurrent")
        && SHRINKING.compareAndSet(false, true)) {
      Thread thread = new Thread(HeapWatch::collect, "warmpath-heap-shrink");
      thread.setDaemon(true);
      thread.start();
    }
  }

  private static void collect() {
    try {
      System.gc(); // ends with the cycle
    } finally {
      SHRINKING.set(false);
    }
  }

  private static boolean isSet(HotSpotDiagnosticMXBean jvm, String option) {
    return Boolean.parseBoolean(jvm.getVMOption(option).getValue());
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
      long used = 0;
      long committed = 0;
      long initial = 0;
      for (String pool : pools) {
        MemoryUsage usage = after.get(pool);
        if (usage != null) {
          used += pool.contains("Eden") ? 0 : usage.getUsed();
          committed += usage.getCommitted();
          initial += Math.max(0, usage.getInit());
        }
      }
      collected(used, committed > initial ? committed : 0);
    }
  }

  /**
   * A collection left so many bytes in use.
   *
   * @param committedBytes what the heap takes of the machine's memory; 0 if it never takes less
   */
  public synchronized void collected(long usedBytes, long committedBytes) {
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
    watchWidth(committedBytes > SMALL_BYTES && usedBytes < WIDE_SHARE * committedBytes, now);
  }

  private void watchWidth(boolean isWideNow, long now) {
    if (!isWideNow || !isWide) {
      isWide = isWideNow;
      wideSinceNanos = now;
    } else if (now - wideSinceNanos >= WIDE_NANOS) {
      wideSinceNanos = now;
      try {
        shrink.run();
      } catch (RuntimeException | OutOfMemoryError e) { // no thread; this one is the JVM's
        LOG.warn("the heap could not be shrunk", e);
      }
    }
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
