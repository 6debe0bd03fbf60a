/** From a request to the engine that serves it: matching, choosing, reserving, giving back. */
@NullMarked
package dev.warmpath.router.fleet.dispatch;

import org.jspecify.annotations.NullMarked;
