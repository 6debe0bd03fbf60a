package dev.warmpath.lab.gateway;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One connection to a stub replica: bodies are read and dropped, answers are fixed.
 *
 * <p>Confined to its event loop.
 */
final class StubConnection extends ChannelInboundHandlerAdapter {

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
