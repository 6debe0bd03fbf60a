package dev.warmpath.router.proxy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.rig.Rig;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.Http2FrameCodec;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2GoAwayFrame;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2ResetFrame;
import io.netty.handler.codec.http2.Http2StreamChannelBootstrap;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients that speak HTTP/2 and mean harm: engines are asked by HTTP/1.1. */
class Http2HostileTest {

  private static final String LINE = "\r\nx-injected: 1";
  private static final int MIB = 1 << 20;

  private static final Map<String, Consumer<Http2Headers>> FORMS =
      Map.ofEntries(
          Map.entry("value", head -> head.set("x-a", "1" + LINE)),
          Map.entry("name", head -> head.set("x-a: 1" + LINE + "\r\nx-b", "1")),
          Map.entry("path", head -> head.path("/v1/completions HTTP/1.1" + LINE)),
          Map.entry("query", head -> head.path("/v1/completions?a HTTP/1.1" + LINE)),
          Map.entry("method", head -> head.method("POST /v1/models HTTP/1.1" + LINE)),
          Map.entry("authority", head -> head.authority("x" + LINE)),
          Map.entry("scheme", head -> head.scheme("http" + LINE)),
          Map.entry("absolute", head -> head.path("http://127.0.0.1:1/v1/completions")),
          Map.entry("id", head -> head.set("x-request-id", "1" + LINE)),
          Map.entry("coding", head -> head.set("transfer-encoding", "chunked")),
          Map.entry("connection", head -> head.set("connection", "x-a").set("x-a", "1")),
          Map.entry("long", head -> head.set("content-length", "200")),
          Map.entry("short", head -> head.set("content-length", "1")),
          Map.entry("two", head -> head.set("content-length", "2").add("content-length", "200")),
          Map.entry("connect", head -> head.method("CONNECT").remove(":path")));

  private static Rig rig;
  private static EventLoopGroup loop;

  @BeforeAll
  static void start() {
    loop = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    rig =
        new Rig(
            1,
            tree ->
                tree.set("listen.http2", true, "test")
                    .set("timeouts.request-body-ms", 500, "test"));
  }

  @AfterAll
  static void stop() {
    rig.close();
    loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
  }

  @BeforeEach
  void fresh() {
    rig.backends.get(0).bodies.clear();
    rig.backends.get(0).headers.clear();
    rig.backends.get(0).authorizations.clear();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "value",
        "name",
        "path",
        "query",
        "method",
        "authority",
        "scheme",
        "absolute",
        "id",
        "coding",
        "connection",
        "long",
        "short",
        "two",
        "connect"
      })
  void whatHttp1WouldReadOtherwiseBringsNoSecondRequest(String form) throws Exception {
    try (Client client = new Client()) {
      String answer = client.send(FORMS.get(form), "{}");
      assertThat(answer).matches("[2-5]..|reset .*|goaway .*|closed");
    }
    rig.untilIdle();
    assertThat(rig.backends.get(0).headers)
        .allSatisfy(headers -> assertThat(headers).doesNotContainKey("x-injected"));
    assertThat(rig.backends.get(0).bodies)
        .allSatisfy(body -> assertThat(body.toString()).isEqualTo("{}"));
    assertThat(rig.backends.get(0).authorizations.keySet())
        .isSubsetOf("/v1/completions", "/health", "/v1/models", "/metrics");
    assertThat(rig.chat("{}").statusCode()).isEqualTo(200);
  }

  @Test
  void aHeadOfManyBytesIsRefused() throws Exception {
    try (Client client = new Client()) {
      assertThat(client.send(head -> head.set("x-a", "y".repeat(100_000)), "{}"))
          .matches("431|reset .*|goaway .*|closed");
    }
    assertThat(rig.backends.get(0).bodies).isEmpty();
  }

  @Test
  void aHeadWithoutEndIsCut() throws Exception {
    byte[] literal = frame(9, 0, new byte[16_384]);
    long sent = 0;
    try (Socket socket = new Socket("127.0.0.1", rig.router.port())) {
      OutputStream out = socket.getOutputStream();
      out.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(UTF_8));
      out.write(frame(4, 0, new byte[0], 0));
      out.write(frame(1, 0, new byte[] {0, 1, 'a', 1, 'b'}));
      while (sent < 64L * MIB) {
        out.write(literal);
        sent += literal.length;
      }
    } catch (IOException e) {
      assertThat(sent).isLessThan(64L * MIB); // it was cut
    }
    assertThat(sent).isLessThan(64L * MIB);
    assertThat(rig.chat("{}").statusCode()).isEqualTo(200);
  }

  @Test
  void aBodyThatTricklesIsNotWaitedFor() throws Exception {
    try (Client client = new Client()) {
      client.begin(head -> {});
      while (!client.answer.isDone()) {
        client.data("y", false);
        LockSupport.parkNanos(5_000_000);
      }
      assertThat(client.answer.get()).isEqualTo("408");
    }
    rig.untilIdle();
    assertThat(rig.backends.get(0).bodies).isEmpty();
  }

  private static byte[] frame(int type, int flags, byte[] payload) {
    return frame(type, flags, payload, 1);
  }

  private static byte[] frame(int type, int flags, byte[] payload, int stream) {
    byte[] frame = new byte[9 + payload.length];
    frame[0] = (byte) (payload.length >> 16);
    frame[1] = (byte) (payload.length >> 8);
    frame[2] = (byte) payload.length;
    frame[3] = (byte) type;
    frame[4] = (byte) flags;
    frame[8] = (byte) stream;
    System.arraycopy(payload, 0, frame, 9, payload.length);
    return frame;
  }

  /** Sends any head, and knows what came first: a status, or how it was refused. */
  private static final class Client implements AutoCloseable {
    private final CompletableFuture<String> answer = new CompletableFuture<>();
    private final Http2FrameCodec codec =
        Http2FrameCodecBuilder.forClient()
            .validateHeaders(false)
            .encoderIgnoreMaxHeaderListSize(true)
            .build();
    private final Channel channel;
    private final Channel stream;

    Client() throws InterruptedException {
      channel =
          new Bootstrap()
              .group(loop)
              .channel(NioSocketChannel.class)
              .handler(
                  new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel made) {
                      made.pipeline()
                          .addLast(
                              codec,
                              new Http2MultiplexHandler(new ChannelInboundHandlerAdapter()),
                              new Answers(answer));
                    }
                  })
              .connect("127.0.0.1", rig.router.port())
              .sync()
              .channel();
      stream =
          new Http2StreamChannelBootstrap(channel)
              .handler(new Answers(answer))
              .open()
              .sync()
              .getNow();
    }

    void begin(Consumer<Http2Headers> change) {
      Http2Headers head =
          new DefaultHttp2Headers(false)
              .method("POST")
              .scheme("http")
              .authority("x")
              .path("/v1/completions");
      change.accept(head);
      stream.writeAndFlush(new DefaultHttp2HeadersFrame(head, false));
    }

    void data(String text, boolean end) {
      stream.writeAndFlush(new DefaultHttp2DataFrame(Unpooled.copiedBuffer(text, UTF_8), end));
    }

    String send(Consumer<Http2Headers> change, String body) throws Exception {
      begin(change);
      data(body, true);
      return answer.get(Rig.PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    @Override
    public void close() {
      channel.close().syncUninterruptibly();
    }
  }

  private static final class Answers extends ChannelInboundHandlerAdapter {
    private final CompletableFuture<String> answer;

    Answers(CompletableFuture<String> answer) {
      this.answer = answer;
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
      channelRead(context, event);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object frame) {
      if (frame instanceof Http2HeadersFrame head) {
        answer.complete(head.headers().status().toString());
      } else if (frame instanceof Http2ResetFrame reset) {
        answer.complete("reset " + reset.errorCode());
      } else if (frame instanceof Http2GoAwayFrame goAway && goAway.errorCode() != 0) {
        answer.complete("goaway " + goAway.errorCode());
      }
      ReferenceCountUtil.release(frame);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
      answer.complete("closed");
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      context.close();
    }
  }
}
