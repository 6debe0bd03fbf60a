package dev.warmpath.router.reload;

import dev.warmpath.router.config.RouterConfig;
import java.util.function.Supplier;

/**
 * The configuration that holds at the moment.
 *
 * <p>Single writer, many readers.
 */
public final class RunningConfig implements Supplier<RouterConfig> {

  private volatile RouterConfig now;

  public RunningConfig(RouterConfig start) {
    this.now = start;
  }

  @Override
  public RouterConfig get() {
    return now;
  }

  void set(RouterConfig next) {
    now = next;
  }
}
