/**
 * Prefixes that sessions share go to engines that lack them; {@code fleet.dispatch.Prewarming}
 * decides which, and when.
 */
@NullMarked
package dev.warmpath.router.prewarm;

import org.jspecify.annotations.NullMarked;
