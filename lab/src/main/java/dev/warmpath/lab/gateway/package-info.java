/**
 * {@code bench gateway} and {@code bench restart}: what a request through the router costs beside
 * other gateways. Stub engines answer in a process of their own, a load of Netty asks, turns are
 * taken in rounds. Start at {@code GatewayBench}, then {@code TurnRunner}.
 */
@NullMarked
package dev.warmpath.lab.gateway;

import org.jspecify.annotations.NullMarked;
