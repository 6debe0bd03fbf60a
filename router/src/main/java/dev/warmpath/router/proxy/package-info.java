/**
 * The way of a request: in from a client, up to a replica, and its answer back down.
 *
 * <pre>{@code
 * client ─▶ ProxyVerticle ─▶ Exchange ─▶ Attempt ─▶ replica     up: head, body, prompt, try
 * client ◀────────────── Exchange ◀───── Attempt ◀─ replica     down: chunk by chunk
 *       ClientConnections   PromptPool      UsageScanner
 *           Lifecycle       RoutedRequest   (tokens it reports)
 * }</pre>
 *
 * <p>Start with {@link Exchange}, whose table of states is the map; then {@link RoutedRequest}, a
 * request on its way to an engine, and {@link Attempt}, one try at one replica. {@link Routes}
 * lists what is answered at all, {@link ApiError} what the router answers itself when it cannot
 * serve. {@link PrefillLeg} is the first half of a request that is split over two engines, {@link
 * KvProtocol} what their connector wants in the two bodies. {@link Tunnel} is the same for a
 * WebSocket.
 */
@NullMarked
package dev.warmpath.router.proxy;

import org.jspecify.annotations.NullMarked;
