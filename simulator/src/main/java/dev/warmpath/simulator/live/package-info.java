/**
 * Simulated engines on real sockets: OpenAI's HTTP surface, vLLM's or SGLang's event stream.
 *
 * <pre>{@code
 * HTTP ─▶ EngineApi ─▶ Call ─▶ EngineDriver (thread) ─▶ TokenEngine ─▶ engine.SimulatedEngine
 * each step:  tokens ─▶ Call ─▶ AnswerJson ─▶ HTTP
 *             events (EventRecorder) ─▶ EventPublisher (EventEncoder) ─▶ ZeroMQ
 * }</pre>
 *
 * <p>Start with {@link LiveEngine}: one engine, which can be killed and restarted on its ports;
 * {@link LiveEngines} starts several. {@link EngineDriver} steps it in real time, {@link
 * TokenEngine} names its blocks. {@link BlockHashing} is how: as vLLM ({@link BlockHashing.Vllm})
 * or SGLang ({@link SglangHashing}). {@link KvTransfers} hands KV blocks to other engines, for
 * prompts that one engine computes and another one answers.
 */
@NullMarked
package dev.warmpath.simulator.live;

import org.jspecify.annotations.NullMarked;
