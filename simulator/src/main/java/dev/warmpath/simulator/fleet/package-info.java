/**
 * A fleet in virtual time: the router's own dispatcher, policies, index and cluster before
 * simulated engines. One thread, one seed, no clock.
 *
 * <pre>{@code
 * Workload, FleetPlan ─▶ VirtualFleet ─▶ VirtualRouter ─▶ VirtualEngine ─▶ Measures
 *                         EventHeap        ▲  Dispatcher      │
 *                                          └─ PendingEvents ◀─┘ events, heard later
 * }</pre>
 *
 * <p>Start with {@link VirtualFleet}: it takes from {@link EventHeap} what happens next, and lets
 * it happen. {@link VirtualRouter} is a real {@code Dispatcher} with a simulated view of the
 * engines, as {@link IndexMode} says: from their events, or guessed from what was routed. {@link
 * VirtualNetwork} carries what several routers tell each other. {@link Measures} is what became of
 * each request.
 */
@NullMarked
package dev.warmpath.simulator.fleet;

import org.jspecify.annotations.NullMarked;
