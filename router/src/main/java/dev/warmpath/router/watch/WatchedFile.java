package dev.warmpath.router.watch;

/**
 * How a watched entry stands.
 *
 * <p>Immutable.
 *
 * @param name the configuration key that names it
 * @param stale whether what the files hold now could not be used, so that older contents are
 * @param reloads changes that were taken over
 * @param failures changes that were not
 */
public record WatchedFile(String name, boolean stale, long reloads, long failures) {}
