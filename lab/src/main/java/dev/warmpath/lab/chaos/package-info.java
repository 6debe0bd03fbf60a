/**
 * {@code chaos}: a router between engines and clients that misbehave.
 *
 * <pre>{@code
 * ChaosClient ─▶ router ─▶ ChaosEngine (broken by FaultInjector) ─▶ simulated engine
 *     └▶ HttpAnswer ─▶ Classifier ─▶ a verdict ─▶ ChaosReport
 * a scene ─▶ router with a small heap ─▶ ScriptedEngine: each request names what it does
 * FailoverLoad ─▶ several routers, connected by Wires, killed and cut off
 * }</pre>
 *
 * <p>Three runs, three doors. {@link ChaosRun} is the storm: faults and bad clients by a {@link
 * ChaosPlan}, at the end nothing may be left. {@link OrdinaryDay} plays one scene after another
 * before a router with a small heap, while {@link DayReport.HealthWatch} asks for its health all
 * day. {@link ManyRouters} kills, stops and cuts off routers while {@link FailoverLoad} asks.
 */
@NullMarked
package dev.warmpath.lab.chaos;

import org.jspecify.annotations.NullMarked;
