package dev.warmpath.lab.gateway;

import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A load on its way; closing it ends it, whatever is still to come.
 *
 * <p>Thread-safe; requests are sent and answers read on the event loop.
 */
final class RunningLoad implements AutoCloseable {

  private static final long SWEEP_MILLIS = 100;
  private static final long PATIENCE_SECONDS = 30;

  private final OpenLoad load;
  private final Schedule schedule;
  private final LoadTimes times;
  private final CountDownLatch open;
  private final EventLoop loop;
  private final List<LoadConnections> targets;
  private final Future<?> sweep;
  private @Nullable Thread clock;

  RunningLoad(OpenLoad load, Schedule schedule, EventLoop loop, int connections) {
    this.load = load;
    this.schedule = schedule;
    this.loop = loop;
    times = new LoadTimes(schedule);
    open = new CountDownLatch(schedule.count());
    targets =
        load.targets().stream()
            .map(at -> new LoadConnections(this, at, loop, connections))
            .toList();
    sweep =
        loop.scheduleAtFixedRate(
            this::failOverdue, SWEEP_MILLIS, SWEEP_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** When its requests are due, by {@link System#nanoTime}. */
  Schedule schedule() {
    return schedule;
  }

  /** Waits until each request is answered or has failed. */
  LoadTimes await() throws InterruptedException {
    long end = schedule.dueNanos(schedule.count()) + load.limit().toNanos();
    long wait = end - System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    if (!open.await(wait, TimeUnit.NANOSECONDS)) {
      throw new IllegalStateException("unanswered=" + open.getCount());
    }
    return times;
  }

  /** Waits until nothing more is sent and all connections are being closed. */
  @Override
  public void close() {
    if (clock != null) {
      clock.interrupt();
      joinUninterruptibly(clock);
    }
    sweep.cancel(false);
    Future<?> closed = loop.submit(() -> targets.forEach(LoadConnections::close));
    Future<?> unused = closed.awaitUninterruptibly();
  }

  /** Starts the thread that keeps its time. */
  void begin(LoadClient.OpenLoop pace) {
    clock = new Thread(() -> run(pace), "load-clock");
    clock.setDaemon(true);
    clock.start();
  }

  /** Sends a request as soon as the event loop can. */
  private void request(int number) {
    loop.execute(() -> targets.get(number % targets.size()).send(number));
  }

  boolean streamed() {
    return load.streamed();
  }

  /** The bytes of a request, to be written once. */
  ByteBuf bytes(int number) {
    return load.requests().get(number).duplicate();
  }

  boolean isOverdue(int number, long now) {
    return now - schedule.dueNanos(number) > load.limit().toNanos();
  }

  LoadTimes times() {
    return times;
  }

  void answered(int number) {
    times.answered(number, System.nanoTime());
    open.countDown();
  }

  void failed(int number, String reason) {
    times.failed(number, reason);
    open.countDown();
  }

  private void run(LoadClient.OpenLoop pace) {
    try {
      pace.run(schedule, this::request);
    } catch (InterruptedException e) {
      return; // closed
    }
  }

  private static void joinUninterruptibly(Thread thread) {
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void failOverdue() {
    long now = System.nanoTime();
    targets.forEach(target -> target.failOverdue(now));
  }
}
