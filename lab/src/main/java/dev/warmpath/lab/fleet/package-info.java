/**
 * {@code bench fleet} and {@code bench console}: chats before a fleet of simulated engines, by our
 * policies and by other routers in turn; and what watching the console costs.
 *
 * <pre>{@code
 * FleetSetup ─▶ FleetBench ─▶ fresh engine processes ◀─ BenchRouter ◀─ chat sessions     a turn
 *                          ─▶ FleetCell ─▶ FleetBenchReport (RouterFigure)
 * }</pre>
 *
 * <p>Start with {@link FleetBench}: in each round every router gets the same sessions. A {@link
 * BenchRouter} is our router under one policy ({@link BenchRouter.PolicyRouter}) or a rival ({@link
 * PeerRouter}). {@code BenchConsoleCommand.ConsoleBench} measures an idle router with and without a
 * viewer.
 */
@NullMarked
package dev.warmpath.lab.fleet;

import org.jspecify.annotations.NullMarked;
