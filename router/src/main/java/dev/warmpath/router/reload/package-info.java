/**
 * Another configuration in the place of the running one: all of its reloadable keys or none.
 *
 * <pre>{@code
 * SIGHUP, POST /admin/reload ─▶ Reloader ─▶ ConfigLoader (read, checked)
 *                                         ─▶ ConfigChanges (what differs)
 *                                         ─▶ RunningConfig, Membership, policies
 * }</pre>
 *
 * <p>Start with {@link Reloader}. {@link ConfigChange} is one key that differs; one that needs a
 * restart is named in the {@link ReloadResult}.
 */
@NullMarked
package dev.warmpath.router.reload;

import org.jspecify.annotations.NullMarked;
