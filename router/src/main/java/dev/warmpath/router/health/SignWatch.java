package dev.warmpath.router.health;

import dev.warmpath.router.fleet.EnginePort;
import dev.warmpath.router.fleet.Replica;
import java.util.Objects;

/**
 * Compares one replica's signs with those before.
 *
 * <p>A page may be of one of several API servers with different start times, so another start time
 * or configuration counts when it is seen twice in a row and the one before had been too.
 *
 * <p>Confined to its event loop.
 */
final class SignWatch {

  private final Replica replica;
  private final EnginePort port;
  private EngineSigns settled = EngineSigns.NONE;
  private EngineSigns last = settled;

  SignWatch(Replica replica, EnginePort port) {
    this.replica = replica;
    this.port = port;
  }

  /** The signs are these now. */
  void saw(EngineSigns signs) {
    if (signs.asleep() && !last.asleep()) {
      port.cleared(replica, "the engine sleeps");
    }
    if (alike(signs, last)) {
      settle(signs);
    }
    last = signs;
  }

  private void settle(EngineSigns signs) {
    boolean known = !Double.isNaN(settled.startSeconds());
    if (known && differs(settled.startSeconds(), signs.startSeconds())) {
      port.restarted(replica, "the process started at another time");
    } else if (settled.cacheConfig() != null
        && signs.cacheConfig() != null
        && !settled.cacheConfig().equals(signs.cacheConfig())) {
      port.restarted(replica, "the cache was configured anew");
    } else {
      port.unchanged(replica);
    }
    if (!Double.isNaN(signs.startSeconds())) {
      port.runsSince(replica, signs.startSeconds());
    }
    if (signs.cacheConfig() != null) {
      replica.gpuBlocks(signs.gpuBlocks());
      port.gpuBlocks(replica, signs.gpuBlocks());
    }
    settled =
        new EngineSigns(
            Double.isNaN(signs.startSeconds()) ? settled.startSeconds() : signs.startSeconds(),
            signs.asleep(),
            signs.cacheConfig() == null ? settled.cacheConfig() : signs.cacheConfig(),
            signs.waiting());
  }

  private static boolean alike(EngineSigns one, EngineSigns other) {
    return Double.compare(one.startSeconds(), other.startSeconds()) == 0
        && Objects.equals(one.cacheConfig(), other.cacheConfig());
  }

  private static boolean differs(double before, double now) {
    return !Double.isNaN(now) && Double.compare(before, now) != 0;
  }
}
