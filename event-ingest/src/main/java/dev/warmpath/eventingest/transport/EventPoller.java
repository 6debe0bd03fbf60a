package dev.warmpath.eventingest.transport;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * Polls the live sockets of many engines on one thread, a bounded number of messages each in turns.
 *
 * <p>The thread does nothing else, because subscriptions travel only while it polls.
 *
 * <p>Confined to its own thread, except {@link #follow}, {@link #followed} and {@link #stop}.
 */
public final class EventPoller implements Runnable {

  private static final Logger LOG = LoggerFactory.getLogger(EventPoller.class);
  private static final long POLL_MILLIS = 100;
  private static final long WATCH_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** Pause after each poll, to wake the writer once for several messages. */
  private static final long GATHER_NANOS = TimeUnit.MICROSECONDS.toNanos(100);

  /** Messages queued before the writer is woken within a turn. */
  private static final int WAKE_BATCH = 64;

  private static final int PLACES = 16;

  private final ZContext context;
  private final Runnable wakeWriter;
  private final Queue<EventSubscriber> newcomers = new ConcurrentLinkedQueue<>();
  private final List<EventSubscriber> subscribers = new ArrayList<>();
  private final Descriptors descriptors = new Descriptors();
  private int queuedSinceWake;
  private volatile int followed;
  private volatile boolean stopped;

  /**
   * @param wakeWriter wakes whoever reads the queued messages
   */
  public EventPoller(ZContext context, Runnable wakeWriter) {
    this.context = context;
    this.wakeWriter = wakeWriter;
  }

  /** Follows one more engine from soon on, until its subscriber is stopped. */
  public void follow(EventSubscriber subscriber) {
    newcomers.add(subscriber);
  }

  /** How many engines it follows, as of its last turn. */
  public int followed() {
    return followed + newcomers.size();
  }

  /** Ends {@link #run} soon. */
  public void stop() {
    stopped = true;
  }

  @Override
  public void run() {
    try (ZMQ.Poller poller = context.createPoller(PLACES)) {
      long watchedNanos = System.nanoTime() - WATCH_NANOS;
      while (!stopped) {
        if (System.nanoTime() - watchedNanos >= WATCH_NANOS) {
          watchedNanos = System.nanoTime();
          watch(poller);
        }
        poll(poller);
      }
      for (EventSubscriber subscriber : subscribers) {
        guarded(subscriber, poller, subscriber::close);
      }
    }
  }

  private void poll(ZMQ.Poller poller) {
    if (poller.getSize() == 0) {
      LockSupport.parkNanos(this, WATCH_NANOS); // without sockets JeroMQ's poll does not wait
      return;
    }
    if (poller.poll(POLL_MILLIS) != 0) {
      for (EventSubscriber subscriber : subscribers) {
        guarded(subscriber, poller, polling -> queuedSinceWake += subscriber.receive());
        if (queuedSinceWake >= WAKE_BATCH) {
          wakeWriter();
        }
      }
      wakeWriter();
      gather();
    }
  }

  private void wakeWriter() {
    queuedSinceWake = 0;
    wakeWriter.run();
  }

  /**
   * Waits a moment. A wake-up for each single message costs more than the message itself; only what
   * comes within the moment waits for its end.
   */
  private static void gather() {
    LockSupport.parkNanos(GATHER_NANOS);
  }

  /** What goes wrong with one engine leaves the others' sockets alone. */
  private static void guarded(
      EventSubscriber subscriber, ZMQ.Poller poller, Consumer<ZMQ.Poller> turn) {
    try {
      turn.accept(poller);
    } catch (RuntimeException | Error e) {
      LOG.error("a bug in polling", e);
      try {
        subscriber.fail(poller);
      } catch (RuntimeException | Error again) {
        LOG.error("its socket cannot be closed either", again);
      }
    }
  }

  private void watch(ZMQ.Poller poller) {
    for (@Nullable EventSubscriber next = newcomers.poll(); next != null; next = newcomers.poll()) {
      subscribers.add(next);
    }
    boolean connected = false;
    descriptors.beginLook();
    for (EventSubscriber subscriber : subscribers) {
      connected |= subscriber.connectedSince();
      guarded(
          subscriber,
          poller,
          subscriber.stopped()
              ? subscriber::close
              : sockets -> subscriber.watch(sockets, descriptors));
    }
    if (connected) {
      JeroMqConnectWorkaround.nudge(context);
    }
    subscribers.removeIf(EventSubscriber::stopped);
    followed = subscribers.size();
  }
}
