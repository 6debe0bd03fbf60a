/**
 * The router's process: everything wired together, started and stopped.
 *
 * <pre>{@code
 * RouterProcess ─▶ Core            index, EventIngest, fleet, tokenizers, dispatcher: no port
 *               ─▶ ProxyVerticle, PickerVerticle, AdminVerticle, HealthChecker      the ports
 *               ─▶ ClusterProcess                                   with other routers, if any
 * }</pre>
 *
 * <p>Start with {@link RouterProcess}, then {@link Core}, which builds all that decides. {@link
 * EventStreams} ties replicas to their event streams. {@link Recording} holds what is written down
 * of the fleet: logs, captures, traces; {@link SnapshotKeeper} writes index and streams to disk,
 * {@link RestoredState} is what the next process reads. {@link StartCheck} reads all files before a
 * start, {@link RehearsedStart} warms the process up during it: {@link WarmUp} sends requests
 * through a router of its own, until the code of a request's way is compiled. {@link Environment}
 * holds the clocks, threads and randomness that tests replace. A request's way begins in {@code
 * proxy}.
 */
@NullMarked
package dev.warmpath.router;

import org.jspecify.annotations.NullMarked;
