package dev.warmpath.router.upstream;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.net.impl.ConnectionBase;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the heads of one connection's responses before Vert.x does, which takes an interim response
 * (1xx) for the final one and every number for a status, and keeps a connection whose end is
 * announced among other options of the header {@code Connection}. Interim responses are dropped.
 * One without a valid status ends the connection, as a response does that cannot be read; so does
 * 101, as nothing here asks for another protocol.
 *
 * <p>Confined to its event loop.
 */
final class AnswerHeads extends ChannelInboundHandlerAdapter {

  private static final Logger LOG = LoggerFactory.getLogger(AnswerHeads.class);
  private static final int SWITCHING_PROTOCOLS = 101;

  /** What becomes of a message that belongs to the last head. */
  private enum Reading {
    PASSES,
    IS_INTERIM,
    IS_OVER
  }

  private Reading reading = Reading.PASSES;

  private AnswerHeads() {}

  /** Reads what comes on a connection that is new. */
  static void on(HttpConnection connection) {
    ChannelHandlerContext vertx = ((ConnectionBase) connection).channelHandlerContext();
    ChannelPipeline pipeline = vertx.pipeline();
    pipeline.addBefore(vertx.name(), null, new AnswerHeads());
    connection.exceptionHandler(
        e -> LOG.debug("a connection to {} failed", connection.remoteAddress(), e));
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (reading == Reading.PASSES && message instanceof HttpResponse head) {
      begin(context, head);
    }
    if (reading == Reading.PASSES) {
      context.fireChannelRead(message);
      return;
    }
    if (reading == Reading.IS_INTERIM && message instanceof LastHttpContent) {
      reading = Reading.PASSES;
    }
    ReferenceCountUtil.release(message);
  }

  private void begin(ChannelHandlerContext context, HttpResponse head) {
    int status = head.status().code();
    if (head.decoderResult().isFailure()) {
      return; // Vert.x ends the connection
    }
    if (status >= 100 && status < 200 && status != SWITCHING_PROTOCOLS) {
      reading = Reading.IS_INTERIM;
    } else if (status < 200 || status >= 600) {
      LOG.debug("{} sent the status {}", context.channel().remoteAddress(), status);
      reading = Reading.IS_OVER;
      var unused = context.close(); // one that fails has no one to tell
    } else if (endsConnection(head.headers())) {
      // Vert.x compares the first line of the header as a whole
      head.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
    }
  }

  private static boolean endsConnection(HttpHeaders headers) {
    return headers.containsValue(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE, true);
  }
}
