/**
 * The policies: which of the engines that could serve a request gets it. No clocks, no sockets: the
 * simulator runs the same classes in virtual time.
 *
 * <pre>{@code
 * RoutingRequest, Candidates (a row for each engine) ─▶ Policy.choose ─▶ a row
 *                                                    ─▶ Policy.score  ─▶ Score, what it costs
 *                                                    ─▶ Policy.reason ─▶ a label
 * }</pre>
 *
 * <p>Start with {@link Policy} and {@link Candidates}; {@link Policies} names every policy. {@link
 * WarmPolicy} is Warmpath's own (its {@code Price.cost} is the price of a prompt), with {@link
 * CacheAges} for the worth of what would be evicted and {@link WarmPolicy.PrefixDemand} for
 * prefixes that too few engines hold. A policy that ranks all candidates at once is a {@link
 * RankingPolicy} with a {@link Ranking}. A {@link SplitRule} decides whether two engines serve a
 * request together.
 */
@NullMarked
package dev.warmpath.router.routing;

import org.jspecify.annotations.NullMarked;
