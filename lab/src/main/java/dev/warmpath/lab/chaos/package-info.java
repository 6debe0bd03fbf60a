/**
 * {@code chaos}: a router between engines and clients that misbehave. The storm starts at {@code
 * ChaosRun}: it plays a {@code ChaosPlan}, in which {@code FaultInjector} breaks engines behind
 * {@code FaultyPort}, {@code ChaosClient} asks, {@code Classifier} judges each answer and {@code
 * Leftovers} what stayed behind. The ordinary day starts at {@code OrdinaryDay}: one scene after
 * another before a router in a process with a small heap, and what befalls it without a fault of
 * its own. scene ─HTTP─▶ router ─HTTP─▶ {@code ScriptedEngine} (each request names what it does);
 * {@code HealthWatch} asks for /health all day. Several routers start at {@code ManyRouters}: they
 * are killed, stopped and cut off from each other by {@code Wires} while {@code FailoverLoad} asks.
 */
@NullMarked
package dev.warmpath.lab.chaos;

import org.jspecify.annotations.NullMarked;
