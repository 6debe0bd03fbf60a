/**
 * The policies, each a pure function from what is known to the engine that gets the request. {@code
 * Policies} names them; {@code warm} is the default.
 */
@NullMarked
package dev.warmpath.router.routing.policy;

import org.jspecify.annotations.NullMarked;
