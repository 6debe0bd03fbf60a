/**
 * From a request to the engine that serves it: match, choose, reserve, give back.
 *
 * <pre>{@code
 * PreparedRequest ─▶ Dispatcher ─▶ Selection (a Contender per engine) ─▶ index, Policy ─▶ Plan
 *                        │         ─▶ reserved: Assignment (Choice) ─▶ finished: given back
 *                        └ all full ─▶ WaitingRequests ─▶ the same, when a place is free
 * }</pre>
 *
 * <p>Start with {@link Dispatcher}, whose comment argues how it chooses and reserves without a
 * lock. {@link Selection} gathers who may get the request and what the index shows there, {@link
 * Plan} is one engine or two, for a request that is split. A retry is {@code Dispatcher.reassign}.
 * {@link Choice} says why an engine was chosen; the logs keep it. {@link Explanation} takes the
 * same way without reserving. {@link Prediction} is how many cached tokens the engine should
 * report, {@link UncachedCauses} why tokens would not be cached.
 */
@NullMarked
package dev.warmpath.router.dispatch;

import org.jspecify.annotations.NullMarked;
