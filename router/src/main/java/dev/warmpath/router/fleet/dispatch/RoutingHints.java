package dev.warmpath.router.fleet.dispatch;

import org.jspecify.annotations.Nullable;

/**
 * What a request's headers say to the dispatcher.
 *
 * @param session what the client calls its session, or null: then the body may tell
 * @param priority the lower, the earlier it leaves the queue; 0 for a request that says nothing
 * @param client whose request it is, or null: clients have their turns in the queue
 */
public record RoutingHints(@Nullable String session, int priority, @Nullable String client) {

  /** Of a request that says nothing. */
  public static final RoutingHints NONE = new RoutingHints(null, 0, null);
}
