package dev.warmpath.router.proxy;

import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.fleet.dispatch.Dispatcher;
import dev.warmpath.router.prompt.PromptPool;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;

/**
 * What all event loops of the proxy share.
 *
 * <p>Thread-safe if its parts are.
 *
 * @param random thread-safe
 */
public record ProxyContext(
    RouterConfig config,
    Dispatcher dispatcher,
    PromptPool prompts,
    Pages pages,
    ProxyListener listener,
    RandomGenerator random,
    LongSupplier nanoClock,
    Entrance entrance,
    RequestHeads heads) {

  public ProxyContext(
      RouterConfig config,
      Dispatcher dispatcher,
      PromptPool prompts,
      Pages pages,
      ProxyListener listener,
      RandomGenerator random,
      LongSupplier nanoClock,
      Entrance entrance) {
    this(
        config,
        dispatcher,
        prompts,
        pages,
        listener,
        random,
        nanoClock,
        entrance,
        new RequestHeads(config));
  }

  /** What bounds the requests that are served at a time, and their retries. */
  public record Entrance(
      Openness openness, BodyRoom bodies, Connections.Count connections, RetryBudget retries) {}

  RetryBudget retries() {
    return entrance.retries();
  }
}
