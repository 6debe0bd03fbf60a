package dev.warmpath.router.health;

import dev.warmpath.router.fleet.Replica;

/**
 * Learns how many requests a replica takes before they wait in its engines' own queues, where they
 * could not go to another replica any more.
 *
 * <p>More than the configured number waiting: the limit falls to what was in flight without the
 * excess. Fewer, and the limit is nearly reached: it rises by a tenth.
 *
 * <p>Confined to its event loop.
 */
final class LearnedLimit {

  private static final double NEARLY = 0.9;

  private LearnedLimit() {}

  /**
   * The replica's metrics say this.
   *
   * @param mayWait requests that may wait in a replica's engines; 0: any number
   */
  static void learn(Replica replica, MetricsPage metrics, int mayWait) {
    if (mayWait == 0) {
      replica.limit(Replica.NO_LIMIT);
      return;
    }
    if (Double.isNaN(metrics.waiting())) {
      return;
    }
    int inFlight = replica.requests();
    int limit = replica.limit();
    int excess = (int) Math.min(metrics.waiting(), Integer.MAX_VALUE) - mayWait;
    if (excess > 0) {
      replica.limit(Math.max(1, Math.min(limit, inFlight - excess)));
    } else if (limit < Replica.NO_LIMIT && inFlight >= NEARLY * limit) {
      replica.limit(limit + Math.max(1, limit / 10));
    }
  }
}
