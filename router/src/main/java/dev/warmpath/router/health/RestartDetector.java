package dev.warmpath.router.health;

import dev.warmpath.router.fleet.EngineEvents;
import dev.warmpath.router.fleet.Replica;
import java.util.Objects;

/**
 * Compares one replica's metrics with those before.
 *
 * <p>A page may be of one of several API servers with different start times, so another start time
 * or configuration counts when it is seen twice in a row and the one before had been too.
 *
 * <p>Confined to its event loop.
 */
final class RestartDetector {

  private final Replica replica;
  private final EngineEvents engineEvents;
  private MetricsPage settled = MetricsPage.NONE;
  private MetricsPage last = settled;

  RestartDetector(Replica replica, EngineEvents engineEvents) {
    this.replica = replica;
    this.engineEvents = engineEvents;
  }

  /** The metrics are these now; returns whether they are another process's. */
  boolean isRestarted(MetricsPage metrics) {
    boolean restarted = false;
    if (metrics.asleep() && !last.asleep()) {
      engineEvents.cleared(replica, "the engine sleeps");
    }
    if (alike(metrics, last)) {
      restarted = settle(metrics);
    }
    last = metrics;
    return restarted;
  }

  private boolean settle(MetricsPage metrics) {
    boolean restarted = true;
    boolean known = !Double.isNaN(settled.startSeconds());
    if (known && differs(settled.startSeconds(), metrics.startSeconds())) {
      engineEvents.restarted(replica, "the process started at another time");
    } else if (settled.cacheConfig() != null
        && metrics.cacheConfig() != null
        && !settled.cacheConfig().equals(metrics.cacheConfig())) {
      engineEvents.restarted(replica, "the cache was configured anew");
    } else {
      restarted = false;
      engineEvents.unchanged(replica);
    }
    if (!Double.isNaN(metrics.startSeconds())) {
      engineEvents.runsSince(replica, metrics.startSeconds());
    }
    if (metrics.cacheConfig() != null) {
      replica.gpuBlocks(metrics.gpuBlocks());
      engineEvents.gpuBlocks(replica, metrics.gpuBlocks());
    }
    settled =
        new MetricsPage(
            Double.isNaN(metrics.startSeconds()) ? settled.startSeconds() : metrics.startSeconds(),
            metrics.asleep(),
            metrics.cacheConfig() == null ? settled.cacheConfig() : metrics.cacheConfig(),
            metrics.tokens(),
            metrics.receivedTokens(),
            metrics.expiredTransfers(),
            metrics.ranks());
    return restarted;
  }

  private static boolean alike(MetricsPage one, MetricsPage other) {
    return Double.compare(one.startSeconds(), other.startSeconds()) == 0
        && Objects.equals(one.cacheConfig(), other.cacheConfig());
  }

  private static boolean differs(double before, double now) {
    return !Double.isNaN(now) && Double.compare(before, now) != 0;
  }
}
