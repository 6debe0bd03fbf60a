package dev.warmpath.router;

import dev.warmpath.eventingest.Clocks;
import dev.warmpath.router.config.FileWatch;
import dev.warmpath.router.config.MemoryBudget;
import dev.warmpath.router.config.ReplicaConfig;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.logs.Tracing;
import dev.warmpath.router.tokenize.LoadedTokenizers;
import dev.warmpath.router.upstream.Upstreams;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Reads the files that a start needs: keys, certificates, headers for the collector, and tokenizers
 * that need not be downloaded. Opens no socket and writes nothing.
 */
public final class StartCheck {

  private static final int MOST_WARNINGS = 10;

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
      PortSecurity.begin(config, files, vertx, Clocks.ofTheMachine());
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
    if (config.replicas().isEmpty() && config.discovery().isEmpty()) {
      return List.of(
          "the fleet is empty: 'replicas' and 'discovery' name no engine, so requests are"
              + " answered 503 until replicas are added at the admin port");
    }
    List<String> warnings = new ArrayList<>();
    Map<String, String> urls = new HashMap<>();
    Map<String, String> endpoints = new HashMap<>();
    for (ReplicaConfig replica : config.replicas()) {
      String url = replica.url().getHost().toLowerCase(Locale.ROOT) + ":" + replica.port();
      String other = urls.putIfAbsent(url, "replica '" + replica.name() + "'");
      if (other != null) {
        warnings.add(
            "replica '%s' has the url of %s: one engine counts twice"
                .formatted(replica.name(), other));
      }
      sharedEndpoints(replica, endpoints, warnings);
    }
    return warnings.size() <= MOST_WARNINGS
        ? warnings
        : Stream.concat(
                warnings.stream().limit(MOST_WARNINGS),
                Stream.of("%d more such replicas".formatted(warnings.size() - MOST_WARNINGS)))
            .toList();
  }

  /** One warning a replica: its other ranks share the other's ports too. */
  private static void sharedEndpoints(
      ReplicaConfig replica, Map<String, String> endpoints, List<String> warnings) {
    boolean warned = false;
    for (int rank = 0; rank < replica.ranks(); rank++) {
      for (String key : List.of("events", "replay")) {
        String endpoint = key.equals("events") ? replica.eventsOf(rank) : replica.replayOf(rank);
        if (endpoint == null) {
          continue;
        }
        String ofRank = endpoint.toLowerCase(Locale.ROOT);
        String use = "'%s' of rank %d of replica '%s'".formatted(key, rank, replica.name());
        String other = endpoints.putIfAbsent(ofRank, use);
        if (other != null && !warned) {
          warned = true;
          warnings.add(
              "%s is also %s: %s; events of one engine would count for both"
                  .formatted(use, other, ofRank));
        }
      }
    }
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
    try {
      Tracing tracing = Tracing.begin(config.tracing());
      if (tracing != null) {
        tracing.close();
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
