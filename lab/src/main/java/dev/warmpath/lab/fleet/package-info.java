/**
 * {@code bench fleet} and {@code bench console}: chats before a fleet of simulated engines, by our
 * policies and by other routers in turn; and what watching the console costs. {@code bench choose}
 * and {@code bench cluster}: what a choice costs, and what it costs several routers to share what
 * they know.
 *
 * <pre>{@code
 * FleetSetup ─▶ FleetBench ─▶ fresh engine processes ◀─ BenchRouter ◀─ chat sessions     a turn
 *                          ─▶ FleetCell ─▶ FleetBenchReport (RouterFigure)
 * growing chats ─▶ Dispatcher ─▶ made-up caches that evict ─▶ CPU to choose and to learn, by policy
 * one load ─▶ Dispatcher of each router ─▶ Cluster ─▶ a mesh on the loopback      a turn with it
 *          ─▶ Dispatcher of each router                                           a turn without
 * }</pre>
 *
 * <p>Start with {@link FleetBench}: in each round every router gets the same sessions. A {@link
 * BenchRouter} is our router under one policy ({@code PolicyRouter}) or a rival ({@code
 * PeerRouter}). {@code BenchConsoleCommand.ConsoleBench} measures an idle router with and without a
 * viewer. {@link BenchChooseCommand} and {@link BenchClusterCommand} run the router's own
 * dispatcher in this process, with neither clients nor engines.
 */
@NullMarked
package dev.warmpath.lab.fleet;

import org.jspecify.annotations.NullMarked;
