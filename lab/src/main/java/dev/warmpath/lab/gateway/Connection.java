package dev.warmpath.lab.gateway;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;

/**
 * One connection of a load, and the answer that comes on it.
 *
 * <p>Confined to its event loop.
 */
final class Connection extends ChannelInboundHandlerAdapter {

  private static final int IDLE = -1;
  private static final int OK = 200;

  private final RunningLoad load;
  private final Connections connections;
  private final Channel channel;
  private int number = IDLE;
  private int status;
  private boolean keepAlive;
  private boolean begun;
  private final StreamEnd end = new StreamEnd();

  Connection(RunningLoad load, Connections connections, Channel channel) {
    this.load = load;
    this.connections = connections;
    this.channel = channel;
  }

  void send(int number) {
    this.number = number;
    begun = false;
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
    end.read(body);
  }

  private void ended() {
    int answered = number;
    if (status != OK) {
      load.failed(answered, "status " + status);
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
}
