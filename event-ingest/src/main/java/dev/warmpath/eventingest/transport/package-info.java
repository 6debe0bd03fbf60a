/**
 * The sockets: live streams, replays, and their bounds in bytes.
 *
 * <pre>
 *   EventPoller (threads) ─▶ EventSubscriber ─▶ LiveSocket ─▶ LiveSink      one SUB an engine
 *   ReplayClient (threads) ─▶ ReplaySink                                   one DEALER while it asks
 * </pre>
 *
 * <p>{@code FrameBudget} bounds what was received and not yet taken, {@code Descriptors} counts
 * what a fleet needs of them, {@code Peers} which connection to a bound socket is the engine's.
 */
@NullMarked
package dev.warmpath.eventingest.transport;

import org.jspecify.annotations.NullMarked;
