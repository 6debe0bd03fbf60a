package dev.warmpath.router.warmup;

import dev.warmpath.router.config.RouterConfig;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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
}
