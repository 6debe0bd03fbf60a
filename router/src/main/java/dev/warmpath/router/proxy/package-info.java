/**
 * The way of a request: in from a client, up to a replica, and its answer back down.
 *
 * <pre>
 *  client ─▶ ProxyVerticle ─▶ Exchange ─▶ Attempt ─▶ replica     up: head, body, prompt, try
 *  client ◀────────────── Exchange ◀───── Attempt ◀─ replica     down: chunk by chunk
 *            Connections     PromptPool      UsageScanner
 *            Lifecycle       Dispatcher      (tokens it reports)
 * </pre>
 *
 * <p>Start with {@link dev.warmpath.router.proxy.Exchange}, whose table of states is the map; then
 * {@link dev.warmpath.router.proxy.Attempt} for one try at one replica, {@link
 * dev.warmpath.router.proxy.Routes} for what is answered at all. {@link
 * dev.warmpath.router.proxy.Tunnel} is the same for a WebSocket.
 */
@NullMarked
package dev.warmpath.router.proxy;

import org.jspecify.annotations.NullMarked;
