/**
 * An engine that behaves like vLLM where a router can tell: what it caches, evicts and announces,
 * and how long it takes. It has no clock, thread or socket.
 *
 * <pre>{@code
 * EngineRequest ─▶ SimulatedEngine ─▶ Scheduler ─▶ StepWork ─▶ CostModel: how long the step takes
 *                                        └▶ KvCache ─▶ BlockPool ─▶ CacheListener: stored, evicted
 *                  endStep ─▶ TokenListener: the step's tokens
 * }</pre>
 *
 * <p>Start with {@link SimulatedEngine}, whose user lets time pass between {@code beginStep} and
 * {@code endStep}. {@link Scheduler} decides what a step computes, {@link KvCache} what is reused,
 * stored and evicted, {@code KvCache.HostCache} adds host memory behind it. {@link EngineConfig}
 * holds limits and speed. {@code fleet} runs it in virtual time, {@code live} on real sockets.
 */
@NullMarked
package dev.warmpath.simulator.engine;

import org.jspecify.annotations.NullMarked;
