package dev.warmpath.router.dispatch;

import org.jspecify.annotations.Nullable;

/**
 * What a request's headers say to the dispatcher.
 *
 * @param session what the client calls its session, or null: then the body may tell
 * @param priority the lower, the earlier it leaves the queue; 0 for a request that says nothing
 * @param client whose request it is, or null: clients have their turns in the queue
 * @param engineModel the model that an engine is asked for, or null: then rules tell, or the body
 */
public record RoutingHints(
    @Nullable String session, int priority, @Nullable String client, @Nullable String engineModel) {

  /** Of a request that says nothing. */
  public static final RoutingHints NONE = new RoutingHints(null, 0, null);

  /** Of a request for the model that its body names. */
  public RoutingHints(@Nullable String session, int priority, @Nullable String client) {
    this(session, priority, client, null);
  }
}
