package dev.warmpath.lab.gateway;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
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
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

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

  /**
   * One connection to a stub replica: bodies are read and dropped, answers are fixed.
   *
   * <p>Confined to its event loop.
   */
  private static final class StubConnection extends ChannelInboundHandlerAdapter {

    private final StubAnswers answers;
    private final Supplier<AnswerShape> shape;
    private @Nullable HttpRequest request;

    StubConnection(StubAnswers answers, Supplier<AnswerShape> shape) {
      this.answers = answers;
      this.shape = shape;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      try {
        if (message instanceof HttpRequest head) {
          request = head;
        }
        if (message instanceof LastHttpContent && request != null) {
          answer(context, request);
        }
      } finally {
        ReferenceCountUtil.release(message);
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      ChannelFuture unused = context.close();
    }

    private void answer(ChannelHandlerContext context, HttpRequest head) {
      boolean keepAlive = HttpUtil.isKeepAlive(head);
      String path = head.uri();
      AnswerShape now = shape.get();
      if (!path.endsWith("/completions")) {
        end(context, answers.page(path), keepAlive);
      } else if (now.streams()) {
        send(context, answers.streamHead());
        new Stream(context, keepAlive, now.gapMillis()).run();
      } else {
        end(context, answers.plain(), keepAlive);
      }
    }

    /** The chunks of one stream, each when it is due; after a delay they follow without a pause. */
    private final class Stream implements Runnable {
      private final ChannelHandlerContext context;
      private final boolean keepAlive;
      private final long gapNanos;
      private final long begin = System.nanoTime();
      private int sent;

      Stream(ChannelHandlerContext context, boolean keepAlive, int gapMillis) {
        this.context = context;
        this.keepAlive = keepAlive;
        gapNanos = TimeUnit.MILLISECONDS.toNanos(gapMillis);
      }

      @Override
      public void run() {
        while (context.channel().isActive() && sent < AnswerShape.CHUNKS) {
          long wait = begin + (sent + 1) * gapNanos - System.nanoTime();
          if (gapNanos > 0 && wait > 0) {
            Future<?> unused = context.executor().schedule(this, wait, TimeUnit.NANOSECONDS);
            return;
          }
          send(context, answers.chunk());
          sent++;
        }
        end(context, answers.streamEnd(), keepAlive);
      }
    }

    private static void send(ChannelHandlerContext context, ByteBuf bytes) {
      ChannelFuture unused = context.writeAndFlush(bytes.duplicate(), context.voidPromise());
    }

    private static void end(ChannelHandlerContext context, ByteBuf bytes, boolean keepAlive) {
      ChannelFuture written = context.writeAndFlush(bytes.duplicate());
      if (!keepAlive) {
        ChannelFuture unused = written.addListener(ChannelFutureListener.CLOSE);
      }
    }
  }
}
