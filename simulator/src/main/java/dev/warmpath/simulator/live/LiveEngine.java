package dev.warmpath.simulator.live;

import static java.util.concurrent.TimeUnit.SECONDS;

import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.EngineGauges;
import dev.warmpath.tokenizer.ModelTokenizer;
import dev.warmpath.tokenizer.PromptResult.Tokens;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.zeromq.ZMQException;

/**
 * One simulated engine that serves HTTP and publishes its KV events.
 *
 * <p>{@link #kill} ends the lifetime as a crash does: connections break in the middle, unsent
 * events are lost. {@link #restart} begins a new one on the same ports, with an empty cache and
 * batch numbers from 0.
 *
 * <p>Thread-safe.
 */
public final class LiveEngine implements AutoCloseable {

  private static final long BIND_SECONDS = 10;

  private final Vertx vertx;
  private final ModelTokenizer tokenizer;
  private LiveEngineOptions options;
  private @Nullable Lifetime lifetime;

  /** What dies together. */
  private record Lifetime(
      HttpServer server, EngineDriver driver, EventPublisher publisher, KvTransfers transfers) {
    /** Sockets first, so that nobody sees an orderly end. */
    void end() {
      await(server.close());
      transfers.close();
      driver.close();
      publisher.close();
    }
  }

  LiveEngine(Vertx vertx, ModelTokenizer tokenizer, LiveEngineOptions options) {
    this.vertx = vertx;
    this.tokenizer = tokenizer;
    this.options = options;
    restart();
  }

  /** Begins a new lifetime; ends the old one first if there is one. */
  public synchronized void restart() {
    kill();
    Lifetime begun = begin();
    options =
        options.at(
            new Ports(
                begun.server.actualPort(),
                begun.publisher.livePort(),
                begun.publisher.replayPort()));
    lifetime = begun;
  }

  /** Ends the lifetime at once; does nothing if there is none. */
  public synchronized void kill() {
    Lifetime ending = lifetime;
    lifetime = null;
    if (ending != null) {
      ending.end();
    }
  }

  @Override
  public void close() {
    kill();
  }

  /** The ports that it has, also while it is dead. */
  public synchronized Ports ports() {
    return options.ports();
  }

  /** Base URL of its HTTP surface. */
  public String url() {
    return "http://127.0.0.1:" + ports().http();
  }

  /** Where its events are published. */
  public String eventsEndpoint() {
    return "tcp://127.0.0.1:" + ports().events();
  }

  /** Where missed events can be asked for. */
  public String replayEndpoint() {
    return "tcp://127.0.0.1:" + ports().replay();
  }

  /** Gauges and counters of the running lifetime. */
  public synchronized EngineGauges load() {
    if (lifetime == null) {
      throw new IllegalStateException("not running");
    }
    return lifetime.driver.load();
  }

  private Lifetime begin() {
    EngineConfig config = options.engine();
    TokenEngine engine = new TokenEngine(config, hashing(config));
    EventPublisher publisher = publisher();
    try {
      return begin(engine, publisher);
    } catch (RuntimeException e) {
      publisher.close();
      throw e;
    }
  }

  private Lifetime begin(TokenEngine engine, EventPublisher publisher) {
    String name = Integer.toString(publisher.livePort());
    boolean isSglang = options.events().form().isSglang();
    boolean isSilent = options.transfer().isWithoutPrefixCache();
    Consumer<List<CacheEvent>> events = isSilent ? unheard -> {} : publisher::publish;
    EngineDriver driver = new EngineDriver(name, engine, events, options.speed());
    EngineMetrics metrics = new EngineMetrics(options.model(), cacheConfig(), wallClockSeconds());
    KvTransfers transfers =
        new KvTransfers(vertx, options.transfer(), options.speed(), driver, metrics);
    try {
      HttpServer server =
          listen(
              new EngineApi.Parts(
                  driver,
                  metrics,
                  eventSources(publisher),
                  options.answerTokens(),
                  isSglang ? SglangImages::sequences : Tokens::sequences,
                  isSglang ? SglangKeys::of : Tokens::keys,
                  transfers));
      transfers.listensAt(server.actualPort());
      return new Lifetime(server, driver, publisher, transfers);
    } catch (RuntimeException e) {
      transfers.close();
      driver.close();
      throw e;
    }
  }

  private BlockHashing hashing(EngineConfig config) {
    WireForm form = options.events().form();
    return form.isSglang()
        ? new SglangHashing(form == WireForm.SGLANG_DYNAMO, options.adapters())
        : new BlockHashing.Vllm(
            options.hashing(), config.cache().blockSizeTokens(), options.adapters());
  }

  private EventPublisher publisher() {
    Ports wanted = options.ports();
    boolean namesGroups = true;
    try {
      return new EventPublisher(
          options.events(),
          wanted.events(),
          wanted.replay(),
          namesGroups,
          LiveEngine::wallClockSeconds);
    } catch (ZMQException e) {
      throw new IllegalStateException(
          "events port %d or replay port %d: %s"
              .formatted(wanted.events(), wanted.replay(), e.getMessage()),
          e);
    }
  }

  private HttpServer listen(EngineApi.Parts parts) {
    SimulatedModel model =
        new SimulatedModel(
            options.model(),
            options.adapters(),
            options.engine().maxModelTokens(),
            (long) wallClockSeconds(),
            options.events().form().isSglang());
    EngineApi api = new EngineApi(vertx, tokenizer, model, parts);
    int port = options.ports().http();
    try {
      return await(vertx.createHttpServer().requestHandler(api.router()).listen(port, "127.0.0.1"));
    } catch (CompletionException e) {
      throw new IllegalStateException("port " + port + ": " + e.getMessage(), e);
    }
  }

  private Map<String, String> cacheConfig() {
    EngineConfig config = options.engine();
    Map<String, String> labels = new TreeMap<>();
    labels.put("block_size", Integer.toString(config.cache().blockSizeTokens()));
    labels.put("num_gpu_blocks", Integer.toString(config.cache().blocks()));
    labels.put("enable_prefix_caching", "True");
    labels.put("prefix_caching_hash_algo", options.hashing().name().toLowerCase(Locale.ROOT));
    return labels;
  }

  private String eventSources(EventPublisher publisher) {
    PublisherOptions events = options.events();
    return """
    {"0":{"enable_kv_cache_events":true,"publisher":"zmq","endpoint":"tcp://*:%d",\
    "replay_endpoint":"tcp://*:%d","buffer_steps":%d,"hwm":%d,"max_queue_size":%d,\
    "topic":"%s"}}\
    """
        .formatted(
            publisher.livePort(),
            publisher.replayPort(),
            events.bufferBatches(),
            events.highWaterMark(),
            events.queueBatches(),
            events.topic());
  }

  private static double wallClockSeconds() {
    return System.currentTimeMillis() / 1e3;
  }

  private static <T> T await(Future<T> future) {
    return future.toCompletionStage().toCompletableFuture().orTimeout(BIND_SECONDS, SECONDS).join();
  }
}
