/**
 * A fleet in virtual time: the router's own dispatcher, policies, index and cluster in front of
 * simulated engines. One thread, no clock; equal seeds give equal runs.
 *
 * <pre>{@code
 * Workload, FleetPlan ─▶ VirtualFleet ─▶ VirtualRouter: Dispatcher (which engine)
 *                         EventHeap    ─▶ VirtualEngine ─▶ events, heard later ─▶ VirtualRouter
 *                                      ─▶ Measures
 * }</pre>
 *
 * <p>Start with {@link VirtualFleet}: it takes from {@link EventHeap} what happens next, and lets
 * it happen. {@link VirtualRouter} has a real {@code Dispatcher} and shows it the engines, as
 * {@link IndexMode} says: from their events, or guessed from what was routed. {@link
 * VirtualNetwork} carries what several routers tell each other. {@link Measures} is what became of
 * each request.
 */
@NullMarked
package dev.warmpath.simulator.fleet;

import org.jspecify.annotations.NullMarked;
