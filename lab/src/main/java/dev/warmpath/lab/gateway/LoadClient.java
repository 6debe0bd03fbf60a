package dev.warmpath.lab.gateway;

import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;

/**
 * Sends open loads: one thread keeps their time, another one does all input and output.
 *
 * <p>Thread-safe.
 */
final class LoadClient implements AutoCloseable {

  private static final long HEAD_START_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private final EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final int connections;

  /**
   * @param connections most connections to one target; beyond, requests wait for one
   */
  LoadClient(int connections) {
    this.connections = connections;
  }

  /** Begins a load shortly after this call; it must be closed. */
  RunningLoad start(OpenLoad load) {
    long begin = System.nanoTime() + HEAD_START_NANOS;
    Schedule schedule = new Schedule(begin, load.perSecond(), load.requests().size());
    RunningLoad running = new RunningLoad(load, schedule, loop.next(), connections);
    running.begin(new OpenLoop(System::nanoTime, LoadClient::parkUntil));
    return running;
  }

  @Override
  public void close() {
    loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
  }

  private static void parkUntil(long nanos) throws InterruptedException {
    LockSupport.parkNanos(nanos - System.nanoTime());
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
  }

  /**
   * Starts each request at its instant, whatever became of those before it. One that is late starts
   * at once, and the instants of the others stay where they are.
   */
  record OpenLoop(LongSupplier nanoClock, Sleeper sleeper) {

    /** Waits for an instant of the clock; may return early. */
    interface Sleeper {
      void sleepUntil(long nanos) throws InterruptedException;
    }

    /** Calls {@code start} with the number of each request. */
    void run(Schedule schedule, IntConsumer start) throws InterruptedException {
      for (int number = 0; number < schedule.count(); number++) {
        long due = schedule.dueNanos(number);
        while (nanoClock.getAsLong() - due < 0) {
          sleeper.sleepUntil(due);
        }
        start.accept(number);
      }
    }
  }

  /**
   * What one load is to do.
   *
   * @param targets addresses, which get the requests in turns
   * @param requests in the order in which they are due
   * @param streamed whether answers must end as an event stream does
   * @param limit time from the instant at which a request is due until it has failed
   */
  record OpenLoad(
      List<InetSocketAddress> targets,
      List<ByteBuf> requests,
      boolean streamed,
      double perSecond,
      Duration limit) {

    OpenLoad {
      targets = List.copyOf(targets);
      requests = List.copyOf(requests);
      if (targets.isEmpty() || requests.isEmpty()) {
        throw new IllegalArgumentException("targets=" + targets + " requests=" + requests.size());
      }
    }
  }

  /**
   * The instants at which requests are due, evenly spaced, fixed before the first is sent.
   *
   * @param beginNanos when request 0 is due, by the clock of the load
   * @param perSecond requests a second
   * @param count requests in all
   */
  record Schedule(long beginNanos, double perSecond, int count) {

    Schedule {
      if (!(perSecond > 0) || count < 1) {
        throw new IllegalArgumentException("perSecond=%s count=%d".formatted(perSecond, count));
      }
    }

    /** When request {@code number} is due; {@link #count} for the end of the load. */
    long dueNanos(int number) {
      return beginNanos + Math.round(number * (1e9 / perSecond));
    }
  }
}
