/** The policies, each a pure function from what is known to the replica that gets the request. */
@NullMarked
package dev.warmpath.router.routing.policy;

import org.jspecify.annotations.NullMarked;
