package dev.warmpath.router;

import dev.warmpath.router.config.MemoryBudget;
import dev.warmpath.router.config.ReplicaConfig;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.tokenize.LoadedTokenizers;
import dev.warmpath.router.trace.Tracing;
import dev.warmpath.router.upstream.Upstreams;
import dev.warmpath.router.watch.FileWatch;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.util.List;

/**
 * Reads the files that a start needs: keys, certificates, headers for the collector, and tokenizers
 * that need not be downloaded. Opens no socket and writes nothing.
 */
public final class StartCheck {

  private StartCheck() {}

  /**
   * Reads the files that {@code config} names.
   *
   * @throws StartException naming the first that a router could not start with
   */
  public static void check(RouterConfig config) {
    try {
      MemoryBudget.of(config).check();
    } catch (IllegalArgumentException e) {
      throw new StartException(String.valueOf(e.getMessage()), e);
    }
    Vertx vertx = Vertx.vertx(RouterProcess.vertxOptions());
    FileWatch files = new FileWatch(config.files().pollMs());
    try {
      PortSecurity.begin(config, files, vertx, System::nanoTime);
      replicas(config, new Upstreams(config.upstream(), vertx, files));
      tracing(config);
      tokenizers(config);
    } finally {
      files.close();
      vertx.close();
    }
  }

  /** What a router can start with, and is hardly meant so; one line each. */
  public static List<String> warnings(RouterConfig config) {
    return config.replicas().isEmpty() && config.discovery().isEmpty()
        ? List.of(
            "the fleet is empty: 'replicas' and 'discovery' name no engine, so requests are"
                + " answered 503 until replicas are added at the admin port")
        : List.of();
  }

  private static void replicas(RouterConfig config, Upstreams upstreams) {
    for (ReplicaConfig replica : config.replicas()) {
      try {
        upstreams.prepare(replica.url(), replica.upstream());
      } catch (IOException e) {
        throw new StartException("replica " + replica.name() + ": " + e.getMessage(), e);
      }
    }
  }

  private static void tracing(RouterConfig config) {
    try (Tracing tracing = Tracing.begin(config.tracing())) {
      if (tracing != null) {
        tracing.exported();
      }
    } catch (IOException | IllegalArgumentException e) {
      throw new StartException("tracing: " + e, e);
    }
  }

  private static void tokenizers(RouterConfig config) {
    String problem =
        config.tokenizing().waitForModels() ? LoadedTokenizers.localProblem(config) : null;
    if (problem != null) {
      throw new StartException(problem);
    }
  }
}
