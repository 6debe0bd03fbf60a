package dev.warmpath.router;

import dev.warmpath.router.config.RouterConfig;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.PoolOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * Warms the process up: sends requests over the loopback through a router of its own to stub
 * engines that publish events, and reads its metrics, so that the code of the whole way is compiled
 * before the first client comes. The router, its index and its metrics are thrown away afterwards.
 *
 * <p>It ends after a time or a number of requests, whichever comes first. A warm-up that fails is
 * logged, and nothing else depends on it.
 *
 * <p>Thread-safe.
 */
public final class WarmUp {

  private static final Logger LOG = LoggerFactory.getLogger(WarmUp.class);
  private static final String MODEL = "stub";
  private static final int ENGINES = 4;
  private static final int REQUESTS_AN_EVENT = 4;
  private static final int EVENTS_A_SCRAPE = 50;

  /** An engine computes so many prompts before the next one has its turn. */
  private static final int PROMPTS_A_TURN = 8;

  private static final int SUBSCRIBER_MILLIS = 1_000;
  private static final long STEP_SECONDS = 10;

  /**
   * A stub engine.
   *
   * @param url where it takes requests
   * @param events where its events are
   */
  public record Engine(String url, String events) {}

  /** Starts a router in front of stub engines. */
  @FunctionalInterface
  public interface Start {

    /**
     * Starts a router on any port of the loopback.
     *
     * @param model the model's name; its tokenizer is the embedded one
     * @param engines at least one
     */
    Router start(String model, List<Engine> engines);
  }

  /** A router that was started for the warm-up. */
  public interface Router extends AutoCloseable {

    /** The port that clients connect to. */
    int port();

    /** The port of its metrics. */
    int adminPort();

    @Override
    void close();
  }

  /** There may be no folder that can be written to. */
  private static final FileSystemOptions NO_FILES =
      new FileSystemOptions().setFileCachingEnabled(false).setClassPathResolvingEnabled(false);

  private final Start start;
  private final RouterConfig.WarmUp bounds;
  private final LongSupplier nanoClock;

  public WarmUp(Start start, RouterConfig.WarmUp bounds, LongSupplier nanoClock) {
    this.start = start;
    this.bounds = bounds;
    this.nanoClock = nanoClock;
  }

  /** Warms up, in silence, and returns how many requests were answered. */
  public long run() {
    try {
      return Quiet.call(this::rehearse);
    } catch (Exception e) {
      if (e instanceof InterruptedException) {
        Thread.currentThread().interrupt();
      }
      LOG.warn("the warm-up failed", e);
      return 0;
    }
  }

  private long rehearse() throws Exception {
    Vertx vertx = Vertx.vertx(new VertxOptions().setFileSystemOptions(NO_FILES));
    List<StubEvents> events = new ArrayList<>();
    List<Engine> engines = new ArrayList<>();
    try {
      for (int i = 0; i < ENGINES; i++) {
        events.add(new StubEvents());
        int port = await(new StubEngine(vertx).listen());
        engines.add(new Engine("http://127.0.0.1:" + port, events.get(i).endpoint()));
      }
      StubRequests requests = StubRequests.of(MODEL);
      try (Router router = start.start(MODEL, engines)) {
        StubLoad load = new StubLoad(vertx, router.port(), requests, bounds.requests());
        drive(load, router.adminPort(), events, requests.prompts());
        return load.answered();
      }
    } finally {
      events.forEach(StubEvents::close);
      vertx.close();
    }
  }

  /** Sends requests and publishes events until the bounds are reached. */
  private void drive(StubLoad load, int adminPort, List<StubEvents> events, List<int[]> prompts)
      throws InterruptedException {
    long deadline = nanoClock.getAsLong() + TimeUnit.SECONDS.toNanos(bounds.seconds());
    for (StubEvents engine : events) {
      engine.awaitSubscriber(SUBSCRIBER_MILLIS);
    }
    load.start();
    for (int published = 0; !load.isOver() && nanoClock.getAsLong() - deadline < 0; ) {
      if (load.sent() / REQUESTS_AN_EVENT > published) {
        int[] prompt = prompts.get(published % prompts.size());
        events.get(published / PROMPTS_A_TURN % ENGINES).computed(prompt);
        if (published++ % EVENTS_A_SCRAPE == 0) {
          load.scrape(adminPort);
        }
      } else {
        TimeUnit.MILLISECONDS.sleep(1);
      }
    }
    load.stop();
  }

  private static <T> T await(Future<T> future)
      throws InterruptedException, ExecutionException, TimeoutException {
    return future.toCompletionStage().toCompletableFuture().get(STEP_SECONDS, TimeUnit.SECONDS);
  }

  /**
   * A few clients, each of which sends its next request when the last was answered.
   *
   * <p>Thread-safe.
   */
  private static final class StubLoad {

    private static final int CLIENTS = 8;

    private final HttpClient http;
    private final int port;
    private final StubRequests requests;
    private final int limit;
    private final AtomicInteger sent = new AtomicInteger();
    private final AtomicLong answered = new AtomicLong();
    private volatile boolean over;

    /**
     * @param limit requests that are sent at most
     */
    StubLoad(Vertx vertx, int port, StubRequests requests, int limit) {
      this.http = vertx.createHttpClient(new PoolOptions().setHttp1MaxSize(CLIENTS));
      this.port = port;
      this.requests = requests;
      this.limit = limit;
    }

    void start() {
      for (int i = 0; i < CLIENTS; i++) {
        next();
      }
    }

    /** Sends no more. */
    void stop() {
      over = true;
    }

    boolean isOver() {
      return over || sent.get() >= limit;
    }

    int sent() {
      return sent.get();
    }

    long answered() {
      return answered.get();
    }

    private void next() {
      if (isOver()) {
        return;
      }
      sent.getAndIncrement();
      StubRequests.Made made = requests.next();
      http.request(HttpMethod.POST, port, "127.0.0.1", made.path())
          .compose(request -> request.send(made.body()))
          .compose(StubLoad::end)
          .onComplete(
              status -> {
                answered.addAndGet(status == 200 ? 1 : 0);
                next();
              },
              failure -> next());
    }

    /** Reads the metrics of the router, once. */
    void scrape(int adminPort) {
      http.request(HttpMethod.GET, adminPort, "127.0.0.1", "/metrics")
          .compose(HttpClientRequest::send)
          .compose(StubLoad::end)
          .onFailure(failure -> LOG.debug("no metrics", failure));
    }

    private static Future<Integer> end(HttpClientResponse response) {
      return response.end().map(v -> response.statusCode());
    }
  }

  /**
   * Answers as an engine does, without one: whole responses and streams of always the same tokens,
   * in the form that the request's path asks for.
   *
   * <p>Thread-safe.
   */
  private static final class StubEngine {

    private static final int CHUNKS = 16;
    private static final String STREAM_MARK = "\"stream\":true";
    private static final String USAGE =
        "\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":16,\"total_tokens\":25,"
            + "\"prompt_tokens_details\":{\"cached_tokens\":0}}";
    private static final String HEAD =
        "{\"id\":\"stub-1\",\"object\":\"chat.completion\",\"created\":0,\"model\":\"stub\",";
    private static final String CHUNK =
        "data: "
            + HEAD
            + "\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word\"},\"finish_reason\":null}]}\n\n";
    private static final String METRICS =
        """
        process_start_time_seconds 1.0
        vllm:num_requests_running{engine="0",model_name="stub"} 1.0
        vllm:num_requests_waiting{engine="0",model_name="stub"} 0.0
        vllm:cache_config_info{block_size="16",engine="0",num_gpu_blocks="65536"} 1.0
        """;

    private static final String MESSAGE =
        "{\"id\":\"stub-1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"stub\","
            + "\"content\":[{\"type\":\"text\",\"text\":\"hi\"}],\"stop_reason\":\"end_turn\","
            + "\"usage\":{\"input_tokens\":9,\"output_tokens\":16}}";
    private static final String MESSAGE_START =
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":" + MESSAGE + "}\n\n";
    private static final String MESSAGE_CHUNK =
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,"
            + "\"delta\":{\"type\":\"text_delta\",\"text\":\" word\"}}\n\n";
    private static final String MESSAGE_END =
        "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
    private static final String CHUNKS_END =
        "data: " + HEAD + "\"choices\":[]," + USAGE + "}\n\ndata: [DONE]\n\n";

    private final AtomicInteger streams = new AtomicInteger();
    private final Vertx vertx;
    private final HttpServer server;

    StubEngine(Vertx vertx) {
      this.vertx = vertx;
      this.server = vertx.createHttpServer().requestHandler(this::serve);
    }

    /** Listens on any port of the loopback. */
    Future<Integer> listen() {
      return server.listen(0, "127.0.0.1").map(HttpServer::actualPort);
    }

    private void serve(HttpServerRequest request) {
      HttpServerResponse response = request.response();
      switch (request.path()) {
        case "/health" -> response.end();
        case "/metrics" -> response.end(METRICS);
        case "/v1/models" ->
            response.end("{\"object\":\"list\",\"data\":[{\"id\":\"stub\",\"root\":\"stub\"}]}");
        case "/v1/messages" -> request.body().onSuccess(body -> answerMessage(response, body));
        default -> request.body().onSuccess(body -> answer(response, body));
      }
    }

    private void answer(HttpServerResponse response, Buffer body) {
      if (body.toString().contains(STREAM_MARK)) {
        stream(response, "", CHUNK, CHUNKS_END);
      } else {
        String text =
            "\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"hi\"}}],";
        response.putHeader("content-type", "application/json").end(HEAD + text + USAGE + "}");
      }
    }

    private void answerMessage(HttpServerResponse response, Buffer body) {
      if (body.toString().contains(STREAM_MARK)) {
        stream(response, MESSAGE_START, MESSAGE_CHUNK, MESSAGE_END);
      } else {
        response.putHeader("content-type", "application/json").end(MESSAGE);
      }
    }

    /** Every other stream comes token by token, the others in one burst. */
    private void stream(HttpServerResponse response, String begin, String chunk, String end) {
      response.setChunked(true).putHeader("content-type", "text/event-stream; charset=utf-8");
      if (streams.getAndIncrement() % 2 == 0) {
        response.end(begin + chunk.repeat(CHUNKS) + end);
      } else {
        next(response, begin + chunk, chunk, end, CHUNKS);
      }
    }

    private void next(
        HttpServerResponse response, String first, String chunk, String end, int left) {
      if (response.ended() || response.closed()) {
        return;
      }
      if (left == 0) {
        response.end(end);
        return;
      }
      response.write(first);
      vertx.runOnContext(v -> next(response, chunk, chunk, end, left - 1));
    }
  }

  /**
   * Publishes the events of a stub engine as vLLM does: what it stores of the prompts that it
   * computes, and what it evicts for them.
   *
   * <p>Confined to one thread.
   */
  private static final class StubEvents implements AutoCloseable {

    private static final int BLOCK_TOKENS = 16;
    private static final int CACHE_BLOCKS = 2_000;
    private static final long HASH_FACTOR = 0x9E3779B97F4A7C15L;
    private static final byte[] TOPIC = "kv".getBytes(StandardCharsets.UTF_8);

    private final ZContext context = new ZContext(1);
    private final ZMQ.Socket socket = context.createSocket(SocketType.XPUB);
    private final String endpoint;
    private final Set<Long> held = new LinkedHashSet<>();
    private long sequence;

    StubEvents() {
      socket.setLinger(0);
      endpoint = "tcp://127.0.0.1:" + socket.bindToRandomPort("tcp://127.0.0.1");
    }

    String endpoint() {
      return endpoint;
    }

    /** Waits until somebody hears them, or {@code limitMillis} are over. */
    void awaitSubscriber(int limitMillis) {
      socket.setReceiveTimeOut(limitMillis);
      byte[] subscription = socket.recv();
      if (subscription == null) {
        LOG.debug("nobody subscribes to the stub engine's events");
      }
    }

    /**
     * A prompt is computed: those of its blocks are stored that are not held, and what was stored
     * first is evicted when the cache is full.
     */
    void computed(int[] tokenIds) {
      long[] hashes = chain(tokenIds);
      int known = 0;
      while (known < hashes.length && held.contains(hashes[known])) {
        known++;
      }
      if (known == hashes.length) {
        return;
      }
      int begin = known;
      List<Long> evicted = evict(hashes.length - begin);
      send(packer -> {
        packer.packArrayHeader(evicted.isEmpty() ? 1 : 2);
        store(packer, tokenIds, hashes, begin);
        if (!evicted.isEmpty()) {
          packer.packArrayHeader(3).packString("BlockRemoved").packArrayHeader(evicted.size());
          for (long hash : evicted) {
            packer.packLong(hash);
          }
          packer.packString("GPU");
        }
      });
      for (int i = begin; i < hashes.length; i++) {
        held.add(hashes[i]);
      }
    }

    /** Chained, so that prompts that begin alike share blocks. */
    private static long[] chain(int[] tokenIds) {
      long[] hashes = new long[tokenIds.length / BLOCK_TOKENS];
      long hash = 1;
      for (int i = 0; i < hashes.length * BLOCK_TOKENS; i++) {
        hash = (hash ^ tokenIds[i]) * HASH_FACTOR + 1;
        hashes[i / BLOCK_TOKENS] = hash;
      }
      return hashes;
    }

    private List<Long> evict(int blocks) {
      List<Long> evicted = new ArrayList<>();
      Iterator<Long> oldest = held.iterator();
      for (int left = held.size() + blocks - CACHE_BLOCKS; left > 0 && oldest.hasNext(); left--) {
        evicted.add(oldest.next());
        oldest.remove();
      }
      return evicted;
    }

    private static void store(MessageBufferPacker packer, int[] tokenIds, long[] hashes, int begin)
        throws IOException {
      packer.packArrayHeader(9).packString("BlockStored").packArrayHeader(hashes.length - begin);
      for (int i = begin; i < hashes.length; i++) {
        packer.packLong(hashes[i]);
      }
      if (begin == 0) {
        packer.packNil();
      } else {
        packer.packLong(hashes[begin - 1]);
      }
      packer.packArrayHeader((hashes.length - begin) * BLOCK_TOKENS);
      for (int i = begin * BLOCK_TOKENS; i < hashes.length * BLOCK_TOKENS; i++) {
        packer.packInt(tokenIds[i]);
      }
      packer.packInt(BLOCK_TOKENS).packNil().packString("GPU").packNil().packNil();
    }

    /** Writes the events of a batch. */
    private interface Events {
      void writeTo(MessageBufferPacker packer) throws IOException;
    }

    private void send(Events events) {
      try (MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
        packer.packArrayHeader(3).packDouble(0);
        events.writeTo(packer);
        packer.packInt(0);
        socket.sendMore(TOPIC);
        socket.sendMore(ByteBuffer.allocate(Long.BYTES).putLong(sequence++).array());
        socket.send(packer.toByteArray());
      } catch (IOException e) {
        throw new UncheckedIOException("writing to memory", e);
      }
    }

    @Override
    public void close() {
      context.close();
    }
  }
}
