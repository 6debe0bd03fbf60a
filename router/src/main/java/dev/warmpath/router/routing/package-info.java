/**
 * What a policy sees and says: requests, candidates, scores and the decision; no clocks, no I/O.
 *
 * <p>Start with {@code Policy}, which chooses of {@code Candidates} for a {@code RoutingRequest};
 * {@code RankingPolicy} is one that gives each a {@code Score}. The policies themselves stand in
 * {@code policy}, and run in the simulator as they are.
 */
@NullMarked
package dev.warmpath.router.routing;

import org.jspecify.annotations.NullMarked;
