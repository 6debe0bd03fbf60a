package dev.warmpath.router.fleet;

/**
 * Where the router looks up engines on the side of their events. Implementations are thread-safe
 * and fast: each dispatch asks for every candidate.
 *
 * <p>Thread-safe.
 */
@FunctionalInterface
public interface EngineViews {

  /** What is known now of one engine; {@link EngineView#UNSEEN} for one that is not listened to. */
  EngineView of(Replica replica, int dpRank);
}
