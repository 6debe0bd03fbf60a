/**
 * From a request to the engine that serves it: matching, choosing, reserving, giving back.
 *
 * <pre>
 *   PreparedRequest ─▶ Dispatcher ─▶ Selection (match, policy) ─▶ Assignment ─▶ finished: given back
 *                          └ all full ─▶ WaitingRequests ─▶ the same, when a place is free
 * </pre>
 *
 * <p>Start with {@code Dispatcher}, whose comment argues how it chooses and reserves without a
 * lock. A retry is {@code Dispatcher.reassign}. Of an assignment that is over the logs keep its
 * {@code Choice}.
 */
@NullMarked
package dev.warmpath.router.fleet.dispatch;

import org.jspecify.annotations.NullMarked;
