package dev.warmpath.router.proxy;

import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.decision.DecisionLog;
import dev.warmpath.router.fleet.dispatch.Dispatcher;
import dev.warmpath.router.prompt.PromptPool;
import dev.warmpath.router.proxy.path.Routes;
import dev.warmpath.router.proxy.path.StoredResponses;
import dev.warmpath.router.trace.Tracing;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * What all event loops of the proxy share.
 *
 * <p>Thread-safe if its parts are.
 *
 * @param running the configuration that holds at the moment
 * @param random thread-safe
 * @param decisions null for no log
 * @param access null for no log
 * @param tracing null for no traces
 */
public record ProxyContext(
    Supplier<RouterConfig> running,
    Dispatcher dispatcher,
    PromptPool prompts,
    Pages pages,
    ProxyListener listener,
    RandomGenerator random,
    LongSupplier nanoClock,
    Entrance entrance,
    @Nullable DecisionLog decisions,
    @Nullable DecisionLog access,
    @Nullable Tracing tracing,
    Routes routes) {

  public ProxyContext(
      Supplier<RouterConfig> running,
      Dispatcher dispatcher,
      PromptPool prompts,
      Pages pages,
      ProxyListener listener,
      RandomGenerator random,
      LongSupplier nanoClock,
      Entrance entrance,
      @Nullable DecisionLog decisions,
      @Nullable DecisionLog access,
      @Nullable Tracing tracing) {
    this(
        running,
        dispatcher,
        prompts,
        pages,
        listener,
        random,
        nanoClock,
        entrance,
        decisions,
        access,
        tracing,
        new Routes(running.get().listen().passedPaths()));
  }

  /** The configuration that holds now. */
  public RouterConfig config() {
    return running.get();
  }

  /**
   * What bounds the requests that are served at a time, and their retries; and where their
   * predecessors are.
   */
  public record Entrance(
      Lifecycle lifecycle,
      BodyRoom bodies,
      Connections.Count connections,
      RetryBudget retries,
      StoredResponses responses) {}

  RetryBudget retries() {
    return entrance.retries();
  }
}
