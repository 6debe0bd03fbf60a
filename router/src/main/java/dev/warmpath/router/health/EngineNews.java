package dev.warmpath.router.health;

import dev.warmpath.router.fleet.Replica;

/**
 * Who is told what a replica's health and metrics give away.
 *
 * <p>Called on the health checks' event loop; must not block.
 */
public interface EngineNews {

  /** The replica's engines are the same processes as before. */
  void unchanged(Replica replica);

  /** The replica's engines are other processes than before. */
  void restarted(Replica replica, String why);

  /** The replica answers its health checks again, or for the first time. */
  void recovered(Replica replica);

  /** The replica's engines have run since then, in seconds since 1970; said again and again. */
  void runsSince(Replica replica, double startSeconds);

  /**
   * The GPU of each of the replica's engines has room for so many blocks at most; 0 if the replica
   * does not say.
   */
  void gpuBlocks(Replica replica, long blocks);

  /** The replica's caches are empty, whether or not its events say so yet. */
  void cleared(Replica replica, String why);
}
