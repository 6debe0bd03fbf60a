/**
 * Simulated engines on real sockets: OpenAI's HTTP surface, vLLM's or SGLang's event stream.
 *
 * <pre>{@code
 * HTTP ─▶ EngineApi ─▶ CompletionCall ─▶ EngineDriver (thread) ─▶ TokenEngine ─▶
 *                                                                 engine.SimulatedEngine
 * each step:  events (EventRecorder) ─▶ EventPublisher (EventEncoder) ─▶ ZeroMQ
 *             then tokens ─▶ CompletionCall ─▶ AnswerJson ─▶ HTTP
 * }</pre>
 *
 * <p>Start with {@link LiveEngine}: one engine, which can be killed and restarted on its ports;
 * {@link LiveEngines} starts them. {@link EngineDriver} steps it in real time. {@link TokenEngine}
 * hashes its blocks as vLLM ({@link BlockHashing.Vllm}) or SGLang ({@link SglangHashing}) does.
 * {@link KvTransfers} hands KV blocks to other engines, for prompts that one engine computes and
 * another one answers.
 */
@NullMarked
package dev.warmpath.simulator.live;

import org.jspecify.annotations.NullMarked;
