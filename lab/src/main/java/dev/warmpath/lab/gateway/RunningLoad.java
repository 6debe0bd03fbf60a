package dev.warmpath.lab.gateway;

import dev.warmpath.lab.gateway.LoadClient.OpenLoad;
import dev.warmpath.lab.gateway.LoadClient.Schedule;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseDecoder;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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

  /**
   * The connections of a load to one target: kept alive, one request at a time on each, the one
   * that was used last first. Beyond the limit requests wait, first come first served.
   *
   * <p>Confined to its event loop.
   */
  static final class LoadConnections {

    private static final int READ_BYTES = 1 << 16;
    private static final int CONNECT_MILLIS = 5_000;

    private final RunningLoad load;
    private final Bootstrap bootstrap;
    private final int limit;
    private final Set<Connection> open = new LinkedHashSet<>();
    private final Deque<Connection> idle = new ArrayDeque<>();
    private final Deque<Integer> waiting = new ArrayDeque<>();
    private int connecting;
    private boolean closed;

    LoadConnections(RunningLoad load, InetSocketAddress target, EventLoop loop, int limit) {
      this.load = load;
      this.limit = limit;
      bootstrap =
          new Bootstrap()
              .group(loop)
              .channel(NioSocketChannel.class)
              .option(ChannelOption.TCP_NODELAY, true)
              .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_MILLIS)
              .remoteAddress(target)
              .handler(
                  new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                      HttpDecoderConfig config =
                          new HttpDecoderConfig().setMaxChunkSize(READ_BYTES);
                      channel.pipeline().addLast(new HttpResponseDecoder(config));
                    }
                  });
    }

    /** Sends a request on an idle connection, or when there is one. */
    void send(int number) {
      Connection connection = idle.pollLast();
      if (connection != null) {
        connection.send(number);
        return;
      }
      waiting.add(number);
      connectIfNeeded();
    }

    /** A connection has nothing to do. */
    void free(Connection connection) {
      Integer next = waiting.poll();
      if (next == null) {
        idle.add(connection);
      } else {
        connection.send(next);
      }
    }

    /** A connection is closed. */
    void gone(Connection connection) {
      open.remove(connection);
      idle.remove(connection);
      connectIfNeeded();
    }

    /** Gives up what was due too long ago. */
    void failOverdue(long now) {
      List.copyOf(open).forEach(connection -> connection.failOverdue(now));
      while (!waiting.isEmpty() && load.isOverdue(waiting.element(), now)) {
        load.failed(waiting.remove(), "no connection in time");
      }
    }

    void close() {
      closed = true;
      waiting.clear();
      List.copyOf(open).forEach(Connection::close);
    }

    private void connectIfNeeded() {
      if (waiting.size() > connecting && open.size() + connecting < limit) {
        connecting++;
        ChannelFuture unused =
            bootstrap.connect().addListener((ChannelFuture future) -> connected(future));
      }
    }

    private void connected(ChannelFuture future) {
      connecting--;
      if (closed) {
        ChannelFuture unused = future.channel().close();
      } else if (future.isSuccess()) {
        Connection connection = new Connection(load, this, future.channel());
        future.channel().pipeline().addLast(connection);
        open.add(connection);
        free(connection);
      } else if (!waiting.isEmpty()) {
        load.failed(waiting.remove(), "cannot connect");
        connectIfNeeded();
      }
    }

    /**
     * One connection of a load, and the answer that comes on it.
     *
     * <p>Confined to its event loop.
     */
    static final class Connection extends ChannelInboundHandlerAdapter {

      private static final int IDLE = -1;
      private static final int OK = 200;
      private static final int MOST_TOLD = 1_024;
      private static final Pattern CODE = Pattern.compile("\"code\":\"(\\w+)\"");

      private final RunningLoad load;
      private final LoadConnections connections;
      private final Channel channel;
      private int number = IDLE;
      private int status;
      private boolean keepAlive;
      private boolean begun;
      private final StringBuilder told = new StringBuilder();
      private final StreamEnd end = new StreamEnd();

      Connection(RunningLoad load, LoadConnections connections, Channel channel) {
        this.load = load;
        this.connections = connections;
        this.channel = channel;
      }

      void send(int number) {
        this.number = number;
        begun = false;
        told.setLength(0);
        end.reset();
        load.times().sent(number, System.nanoTime());
        ChannelFuture unused = channel.writeAndFlush(load.bytes(number), channel.voidPromise());
      }

      void failOverdue(long now) {
        if (number != IDLE && load.isOverdue(number, now)) {
          fail("no answer in time");
        }
      }

      void close() {
        ChannelFuture unused = channel.close();
      }

      @Override
      public void channelRead(ChannelHandlerContext context, Object message) {
        try {
          if (number != IDLE) {
            read((HttpObject) message);
          }
        } finally {
          ReferenceCountUtil.release(message);
        }
      }

      @Override
      public void channelInactive(ChannelHandlerContext context) {
        connections.gone(this);
        if (number != IDLE) {
          fail("connection closed");
        }
      }

      @Override
      public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        close();
      }

      private void read(HttpObject message) {
        if (message.decoderResult().isFailure()) {
          fail("not HTTP");
          return;
        }
        if (message instanceof HttpResponse head) {
          status = head.status().code();
          keepAlive = HttpUtil.isKeepAlive(head);
        }
        if (message instanceof HttpContent content) {
          read(content.content());
        }
        if (message instanceof LastHttpContent) {
          ended();
        }
      }

      private void read(ByteBuf body) {
        if (!begun && body.isReadable()) {
          begun = true;
          load.times().firstByte(number, System.nanoTime());
        }
        if (status != OK && told.length() < MOST_TOLD) {
          told.append(body.toString(StandardCharsets.UTF_8));
        }
        end.read(body);
      }

      /** The status, and why, as an error's {@code code} tells. */
      private String refusal() {
        Matcher code = CODE.matcher(told);
        return "status " + status + (code.find() ? " " + code.group(1) : "");
      }

      private void ended() {
        int answered = number;
        if (status != OK) {
          load.failed(answered, refusal());
        } else if (!begun || (load.streamed() && !end.isDone())) {
          load.failed(answered, "incomplete answer");
        } else {
          load.answered(answered);
        }
        number = IDLE;
        if (keepAlive) {
          connections.free(this);
        } else {
          close();
        }
      }

      private void fail(String reason) {
        load.failed(number, reason);
        number = IDLE;
        close();
      }

      /**
       * Looks whether an event stream ends as it should, from its last bytes alone.
       *
       * <p>Confined to its event loop.
       */
      static final class StreamEnd {

        private static final int LOOKED_AT = 16;
        private static final long MASK = (1L << 48) - 1;
        private static final long DONE = last("[DONE]");

        private long last; // bytes that are no white space, the latest lowest

        void reset() {
          last = 0;
        }

        void read(ByteBuf body) {
          int end = body.writerIndex();
          for (int i = Math.max(body.readerIndex(), end - LOOKED_AT); i < end; i++) {
            byte next = body.getByte(i);
            last = next <= ' ' ? last : (last << 8) | (next & 0xFF);
          }
        }

        /** Whether the last that was read is {@code [DONE]}. */
        boolean isDone() {
          return (last & MASK) == DONE;
        }

        private static long last(String text) {
          return text.chars().asLongStream().reduce(0, (bytes, next) -> (bytes << 8) | next);
        }
      }
    }
  }
}
