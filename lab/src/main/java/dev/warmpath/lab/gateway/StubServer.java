package dev.warmpath.lab.gateway;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpRequestDecoder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Stub replicas of one model on ports of the loopback, served by one thread.
 *
 * <p>Thread-safe.
 */
public final class StubServer implements AutoCloseable {

  private static final int BACKLOG = 1_024;
  private static final long GPU_BLOCKS = 65_536;
  private static final int READ_BYTES = 1 << 16;

  private final EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final List<Integer> ports = new ArrayList<>();
  private volatile AnswerShape shape = AnswerShape.PLAIN;

  /** With as much memory as a small engine has. */
  public StubServer(String model, List<Integer> ports) throws IOException {
    this(model, ports, GPU_BLOCKS);
  }

  /**
   * Listens at once.
   *
   * @param ports 0 for any
   * @param gpuBlocks how many blocks each engine has room for, by its metrics
   * @throws IOException if one is taken; names it
   */
  public StubServer(String model, List<Integer> ports, long gpuBlocks) throws IOException {
    StubAnswers answers = new StubAnswers(model, gpuBlocks);
    ServerBootstrap server =
        new ServerBootstrap()
            .group(loop)
            .channel(NioServerSocketChannel.class)
            .option(ChannelOption.SO_BACKLOG, BACKLOG)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childHandler(
                new ChannelInitializer<>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    HttpDecoderConfig config = new HttpDecoderConfig().setMaxChunkSize(READ_BYTES);
                    channel
                        .pipeline()
                        .addLast(new HttpRequestDecoder(config))
                        .addLast(new StubConnection(answers, () -> shape));
                  }
                });
    for (int port : ports) {
      this.ports.add(listen(server, port));
    }
  }

  /** Where it listens. */
  public List<Integer> ports() {
    return List.copyOf(ports);
  }

  /** How requests are answered from now on. */
  public void answer(AnswerShape shape) {
    this.shape = shape;
  }

  @Override
  public void close() {
    loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
  }

  private int listen(ServerBootstrap server, int port) throws IOException {
    var bound = server.bind(InetAddress.getLoopbackAddress(), port).awaitUninterruptibly();
    if (!bound.isSuccess()) {
      close();
      throw new IOException("port " + port + " of the loopback: " + bound.cause().getMessage());
    }
    return ((InetSocketAddress) bound.channel().localAddress()).getPort();
  }
}
