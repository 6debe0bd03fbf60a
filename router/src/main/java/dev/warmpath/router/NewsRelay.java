package dev.warmpath.router;

import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.health.EngineNews;
import java.util.function.Consumer;

/**
 * Passes on what replicas give away of themselves, and tells one more of their restarts.
 *
 * <p>Thread-safe if those that it tells are.
 */
final class NewsRelay implements EngineNews {

  private final EngineNews next;
  private final Consumer<Replica> restarts;

  NewsRelay(EngineNews next, Consumer<Replica> restarts) {
    this.next = next;
    this.restarts = restarts;
  }

  @Override
  public void restarted(Replica replica, String why) {
    next.restarted(replica, why);
    restarts.accept(replica);
  }

  @Override
  public void unchanged(Replica replica) {
    next.unchanged(replica);
  }

  @Override
  public void recovered(Replica replica) {
    next.recovered(replica);
  }

  @Override
  public void runsSince(Replica replica, double startSeconds) {
    next.runsSince(replica, startSeconds);
  }

  @Override
  public void gpuBlocks(Replica replica, long blocks) {
    next.gpuBlocks(replica, blocks);
  }

  @Override
  public void cleared(Replica replica, String why) {
    next.cleared(replica, why);
  }
}
