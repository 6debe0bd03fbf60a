/**
 * The ZeroMQ sockets: live streams, replays, and the bytes that they may hold.
 *
 * <pre>{@code
 * EventPoller (threads) ─▶ EventSubscriber ─▶ LiveSocket ─▶ LiveSink      one SUB an engine
 * ReplayClient (threads) ─▶ ReplaySink                                   one DEALER while it asks
 * }</pre>
 *
 * <p>Start with {@link EventSubscriber} for the live stream and {@link ReplayClient} for missed
 * batches; both hand over undecoded {@code StreamMessage}s. {@link FrameBudget} bounds what was
 * received and not yet taken. {@link ConnectionState} says whether an engine is connected, {@code
 * ConnectionState.Peers} which connection to a bound socket is the engine's. {@link Descriptors}
 * counts the file descriptors that a fleet needs.
 */
@NullMarked
package dev.warmpath.eventingest.transport;

import org.jspecify.annotations.NullMarked;
