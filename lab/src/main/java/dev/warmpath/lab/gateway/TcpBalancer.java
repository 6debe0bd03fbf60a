package dev.warmpath.lab.gateway;

import dev.warmpath.lab.bench.ServedRouter;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Gives each new connection to one of the routers that are ready, in turns, and passes bytes on. It
 * asks every router for its readiness at an interval, one that answers late keeping no other from
 * being asked, and knows nothing else of HTTP.
 *
 * <p>Thread-safe.
 */
final class TcpBalancer implements AutoCloseable {

  private final EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private static final int ROUTERS = 2;

  private final ScheduledExecutorService checks = Executors.newScheduledThreadPool(ROUTERS);
  private final long checkMillis;
  private final Map<ServedRouter, Boolean> ready = new ConcurrentHashMap<>();

  /** When each router was first found to be no longer ready. */
  private final Map<ServedRouter, Long> unreadyNanos = new ConcurrentHashMap<>();

  private final Channel server;
  private int turn;

  /**
   * Listens on any port.
   *
   * @param checkMillis time between two questions for readiness
   */
  TcpBalancer(long checkMillis) {
    this.checkMillis = checkMillis;
    server =
        new ServerBootstrap()
            .group(loop)
            .channel(NioServerSocketChannel.class)
            .childOption(ChannelOption.AUTO_READ, false)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childHandler(
                new ChannelInitializer<>() {
                  @Override
                  protected void initChannel(Channel client) {
                    connect(client);
                  }
                })
            .bind(Gateway.loopback(0))
            .syncUninterruptibly()
            .channel();
  }

  InetSocketAddress address() {
    return (InetSocketAddress) server.localAddress();
  }

  /** The router, which is ready, gets connections. */
  void add(ServedRouter router) {
    ready.put(router, true);
    var unused = checks.schedule(() -> check(router), checkMillis, TimeUnit.MILLISECONDS);
  }

  /** Forgets a router that has left; when it was found to be unready, or now if it never was. */
  long remove(ServedRouter router) {
    ready.remove(router);
    return unreadyNanos.getOrDefault(router, System.nanoTime());
  }

  private void check(ServedRouter router) {
    try {
      boolean is = router.isReady();
      if (is) {
        unreadyNanos.remove(router);
      } else {
        unreadyNanos.putIfAbsent(router, System.nanoTime());
      }
      if (ready.computeIfPresent(router, (known, was) -> is) != null) {
        var unused = checks.schedule(() -> check(router), checkMillis, TimeUnit.MILLISECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void connect(Channel client) {
    List<ServedRouter> now = ready.keySet().stream().filter(ready::get).toList();
    if (now.isEmpty()) {
      close(client);
      return;
    }
    ServedRouter router = now.get(Math.floorMod(turn++, now.size()));
    Bootstrap bootstrap =
        new Bootstrap()
            .group(client.eventLoop())
            .channel(NioSocketChannel.class)
            .option(ChannelOption.TCP_NODELAY, true)
            .handler(new Pass(client));
    ChannelFuture unused =
        bootstrap
            .connect(Gateway.loopback(router.port()))
            .addListener((ChannelFuture future) -> {
              if (future.isSuccess()) {
                client.pipeline().addLast(new Pass(future.channel()));
                client.config().setAutoRead(true);
              } else {
                close(client);
              }
            });
  }

  private static void close(Channel client) {
    ChannelFuture unused = client.close();
  }

  /** Passes what comes on one connection to the other, and ends that with this. */
  private static final class Pass extends ChannelInboundHandlerAdapter {
    private final Channel to;

    Pass(Channel to) {
      this.to = to;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object bytes) {
      ChannelFuture unused = to.writeAndFlush(bytes);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
      ChannelFuture unused =
          to.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      ChannelFuture unused = context.close();
    }
  }

  @Override
  public void close() {
    checks.shutdownNow();
    loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
  }
}
