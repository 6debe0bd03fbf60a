package dev.warmpath.simulator.live;

import dev.warmpath.tokenizer.ModelTokenizer;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.util.ArrayList;
import java.util.List;

/**
 * Starts simulated engines in this process; they share threads and a tokenizer.
 *
 * <p>Thread-safe.
 */
public final class LiveEngines implements AutoCloseable {

  private final ModelTokenizer tokenizer;
  private final Vertx vertx;
  private final List<LiveEngine> engines = new ArrayList<>();

  /** Engines that tokenize with {@code tokenizer}, which stays the caller's to close. */
  public LiveEngines(ModelTokenizer tokenizer) {
    this.tokenizer = tokenizer;
    int cores = Runtime.getRuntime().availableProcessors();
    VertxOptions options = new VertxOptions().setEventLoopPoolSize(cores);
    vertx = Vertx.vertx(options.setWorkerPoolSize(Math.max(2, cores)));
  }

  /** Starts an engine and waits until it listens. */
  public synchronized LiveEngine start(LiveEngineOptions options) {
    LiveEngine engine = new LiveEngine(vertx, tokenizer, options);
    engines.add(engine);
    return engine;
  }

  /** Ends all engines. */
  @Override
  public synchronized void close() {
    engines.forEach(LiveEngine::close);
    engines.clear();
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }
}
