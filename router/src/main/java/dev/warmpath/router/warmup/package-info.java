/**
 * Makes the process fast before it is ready: the code of the whole way of a request is compiled
 * before the first client comes.
 *
 * <pre>{@code
 * StubLoad (StubRequests) ─▶ a router of its own ─▶ StubEngine
 *                                                ◀─ StubEvents: what the engine stores and evicts
 * }</pre>
 *
 * <p>Start with {@link WarmUp}. Its router, index and metrics are thrown away afterwards, and
 * {@link Quiet} keeps what they would log out of the log.
 */
@NullMarked
package dev.warmpath.router.warmup;

import org.jspecify.annotations.NullMarked;
