package dev.warmpath.lab.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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

  /**
   * All that a stub replica ever sends, as bytes made beforehand.
   *
   * <p>Thread-safe; the buffers must be duplicated to be written.
   */
  private static final class StubAnswers {

    private static final String JSON = "application/json";

    private final Map<String, ByteBuf> pages = new HashMap<>();
    private final ByteBuf plain;
    private final ByteBuf streamHead;
    private final ByteBuf chunk;
    private final ByteBuf streamEnd;
    private final ByteBuf notFound = response("404 Not Found", JSON, "{\"detail\":\"Not Found\"}");

    StubAnswers(String model, long gpuBlocks) {
      page("/health", JSON, "");
      page("/v1/models", JSON, models(model));
      page("/version", JSON, "{\"version\":\"0.32.0\"}");
      page("/metrics", "text/plain; version=0.0.4", new StubMetrics(model, gpuBlocks).page());
      page("/model_info", JSON, info(model));
      page("/get_model_info", JSON, info(model));
      page("/server_info", JSON, info(model));
      page("/get_server_info", JSON, info(model));
      plain = response("200 OK", JSON, completion(model));
      String text = chunk(model, "{\"content\":\" word\"}", "null");
      streamHead =
          bytes(
              "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n"
                  + "transfer-encoding: chunked\r\n\r\n"
                  + framed(chunk(model, "{\"role\":\"assistant\",\"content\":\"\"}", "null")));
      chunk = bytes(framed(text));
      streamEnd = bytes(framed(chunk(model, "{}", "\"stop\"") + "data: [DONE]\n\n") + "0\r\n\r\n");
    }

    /** The whole response to a {@code GET}. */
    ByteBuf page(String path) {
      return pages.getOrDefault(path, notFound);
    }

    /** A whole response with half a kilobyte of JSON. */
    ByteBuf plain() {
      return plain;
    }

    /** The head of a stream and its first event, which names the role. */
    ByteBuf streamHead() {
      return streamHead;
    }

    /** One event with text. */
    ByteBuf chunk() {
      return chunk;
    }

    /** The last events of a stream and its end. */
    ByteBuf streamEnd() {
      return streamEnd;
    }

    private void page(String path, String type, String body) {
      pages.put(path, response("200 OK", type, body));
    }

    private static ByteBuf response(String status, String type, String body) {
      return bytes(
          "HTTP/1.1 %s\r\ncontent-type: %s\r\ncontent-length: %d\r\n\r\n%s"
              .formatted(status, type, body.getBytes(UTF_8).length, body));
    }

    private static ByteBuf bytes(String text) {
      byte[] bytes = text.getBytes(UTF_8);
      return Unpooled.unreleasableBuffer(Unpooled.directBuffer(bytes.length).writeBytes(bytes));
    }

    private static String framed(String events) {
      return "%x\r\n%s\r\n".formatted(events.getBytes(UTF_8).length, events);
    }

    private static String models(String model) {
      return "{\"object\":\"list\",\"data\":[{\"id\":\"%s\",\"object\":\"model\",\"created\":1,\"owned_by\":\"stub\",\"max_model_len\":1048576}]}"
          .formatted(model);
    }

    private static String info(String model) {
      return "{\"model_path\":\"%1$s\",\"tokenizer_path\":\"%1$s\",\"served_model_name\":\"%1$s\",\"is_generation\":true,\"tp_size\":1,\"dp_size\":1}"
          .formatted(model);
    }

    private static String completion(String model) {
      return "{\"id\":\"chatcmpl-0\",\"object\":\"chat.completion\",\"created\":1,\"model\":\"%s\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"%s\"},\"logprobs\":null,\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":512,\"total_tokens\":552,\"completion_tokens\":40,\"prompt_tokens_details\":null}}"
          .formatted(model, " word".repeat(40));
    }

    private static String chunk(String model, String delta, String finish) {
      return "data: {\"id\":\"chatcmpl-0\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"%s\",\"choices\":[{\"index\":0,\"delta\":%s,\"logprobs\":null,\"finish_reason\":%s}]}\n\n"
          .formatted(model, delta, finish);
    }

    /**
     * A page of metrics with the names and about the size of vLLM's, so that reading it costs a
     * gateway what it costs in a fleet.
     *
     * @param gpuBlocks how many blocks the cache has room for
     */
    record StubMetrics(String model, long gpuBlocks) {

      private static final List<String> GAUGES =
          List.of("num_requests_running", "num_requests_waiting", "kv_cache_usage_perc");
      private static final List<String> COUNTERS =
          List.of(
              "num_preemptions",
              "prefix_cache_queries",
              "prefix_cache_hits",
              "prompt_tokens",
              "generation_tokens",
              "request_success");
      private static final List<String> HISTOGRAMS =
          List.of(
              "time_to_first_token_seconds",
              "inter_token_latency_seconds",
              "e2e_request_latency_seconds",
              "request_queue_time_seconds",
              "request_inference_time_seconds",
              "request_prefill_time_seconds",
              "request_decode_time_seconds",
              "request_prompt_tokens",
              "request_generation_tokens",
              "request_params_max_tokens",
              "iteration_tokens_total");
      private static final int BUCKETS = 22;

      String page() {
        StringBuilder page = new StringBuilder(1 << 15);
        page.append("# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds ")
            .append(System.currentTimeMillis() / 1000.0)
            .append('\n');
        for (String name : GAUGES) {
          sample(type(page, name, "gauge"), name, "");
        }
        for (String name : COUNTERS) {
          sample(type(page, name + "_total", "counter"), name + "_total", "");
        }
        for (String name : HISTOGRAMS) {
          type(page, name, "histogram");
          for (int bucket = 0; bucket < BUCKETS; bucket++) {
            sample(page, name + "_bucket", ",le=\"" + Math.pow(2, bucket - 10) + "\"");
          }
          sample(page, name + "_bucket", ",le=\"+Inf\"");
          sample(page, name + "_count", "");
          sample(page, name + "_sum", "");
        }
        sample(type(page, "cache_config_info", "gauge"), "cache_config_info", cacheConfig());
        return page.toString();
      }

      private String cacheConfig() {
        return ",block_size=\"16\",enable_prefix_caching=\"True\",num_gpu_blocks=\"%d\""
            .formatted(gpuBlocks);
      }

      private StringBuilder type(StringBuilder page, String name, String type) {
        return page.append("# TYPE vllm:%s %s\n".formatted(name, type));
      }

      private void sample(StringBuilder page, String name, String labels) {
        page.append(
            "vllm:%s{engine=\"0\",model_name=\"%s\"%s} 1.0\n".formatted(name, model, labels));
      }
    }
  }
}
