/** Policies that look for a holder of the prompt first and bound the load that this brings. */
@NullMarked
package dev.warmpath.router.routing.policy.affinity;

import org.jspecify.annotations.NullMarked;
