package dev.warmpath.router.config;

import org.jspecify.annotations.Nullable;

/**
 * How a watched entry stands.
 *
 * <p>Immutable.
 *
 * @param name the configuration key that names it
 * @param problem why what the files hold now cannot be used, so that older contents are; null for
 *     none
 * @param reloads changes that were taken over
 * @param failures changes that were not
 */
public record WatchedFile(String name, @Nullable String problem, long reloads, long failures) {

  /** Whether older contents are in use than the files hold. */
  public boolean stale() {
    return problem != null;
  }
}
