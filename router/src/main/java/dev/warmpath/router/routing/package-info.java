/**
 * What a policy sees and says: requests, candidates, scores and the decision; no clocks, no I/O.
 */
@NullMarked
package dev.warmpath.router.routing;

import org.jspecify.annotations.NullMarked;
