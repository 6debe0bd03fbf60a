package dev.warmpath.lab.gateway;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpResponseDecoder;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The connections of a load to one target: kept alive, one request at a time on each, the one that
 * was used last first. Beyond the limit requests wait, first come first served.
 *
 * <p>Confined to its event loop.
 */
final class LoadConnections {

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
                    HttpDecoderConfig config = new HttpDecoderConfig().setMaxChunkSize(READ_BYTES);
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
}
