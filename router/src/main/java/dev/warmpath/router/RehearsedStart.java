package dev.warmpath.router;

import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.config.RouterConfig;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts a router that is ready when it is warm. The warm-up runs beside the loading of tokenizers
 * and snapshots, in a router of its own that leaves no trace in this one, nor in the log.
 *
 * <p>Thread-safe.
 */
public final class RehearsedStart {

  private static final Logger LOG = LoggerFactory.getLogger(RehearsedStart.class);
  private static final String ORIGIN = "warm-up";

  /** Cold code is slow, and a prompt that is given up warms nothing. */
  private static final int PATIENCE_MILLIS = 60_000;

  private RehearsedStart() {}

  /**
   * Starts a router and returns when it is warm.
   *
   * @param listening is given the router when its ports are open
   * @throws StartException when that cannot be
   */
  public static RouterProcess start(
      RouterConfig config, Environment environment, Consumer<RouterProcess> listening) {
    Thread warming = new Thread(() -> warmUp(config, environment), "warmpath-warm-up");
    warming.setDaemon(true);
    if (config.warmUp().seconds() > 0) {
      warming.start();
    }
    RouterProcess router = RouterProcess.startUnready(config, environment);
    listening.accept(router);
    join(warming);
    if (config.warmUp().seconds() > 0) {
      System.gc(); // else the heap would stay as large as the warm-up made it
    }
    router.ready();
    return router;
  }

  /** Returns how many requests were answered. */
  static long warmUp(RouterConfig config, Environment environment) {
    long begin = environment.nanoClock().getAsLong();
    WarmUp.Start start = (model, engines) -> router(ownConfig(config, model, engines));
    long answered = new WarmUp(start, config.warmUp(), environment.nanoClock()).run();
    long millis = TimeUnit.NANOSECONDS.toMillis(environment.nanoClock().getAsLong() - begin);
    LOG.debug("warmed up with {} requests in {} ms", answered, millis);
    return answered;
  }

  private static WarmUp.Router router(RouterConfig config) {
    RouterProcess process = RouterProcess.start(config);
    return new WarmUp.Router() {
      @Override
      public int port() {
        return process.port();
      }

      @Override
      public int adminPort() {
        return process.adminPort();
      }

      @Override
      public void close() {
        process.close();
      }
    };
  }

  static RouterConfig ownConfig(RouterConfig config, String model, List<WarmUp.Engine> engines) {
    try {
      ConfigTree tree =
          ConfigTree.empty()
              .set("listen.port", 0, ORIGIN)
              .set("listen.event-loops", config.listen().eventLoops(), ORIGIN)
              .set("admin.port", 0, ORIGIN)
              .set("policy.name", config.policy().name(), ORIGIN)
              .set("parity.enabled", false, ORIGIN)
              .set("tokenizing.deadline-ms", PATIENCE_MILLIS, ORIGIN)
              .set("snapshot.enabled", false, ORIGIN)
              .set("shutdown.deadline-ms", 0, ORIGIN)
              .put("models", Map.of("name", model, "tokenizer", "embedded"), ORIGIN);
      for (int i = 0; i < engines.size(); i++) {
        WarmUp.Engine engine = engines.get(i);
        tree =
            tree.put(
                "replicas",
                Map.of("name", "stub-" + i, "url", engine.url(), "events", engine.events()),
                ORIGIN);
      }
      return tree.config();
    } catch (ConfigException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void join(Thread warming) {
    try {
      warming.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
