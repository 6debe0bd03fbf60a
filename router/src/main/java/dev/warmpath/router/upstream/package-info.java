/**
 * How replicas are reached: addresses, TLS, and the router's own credentials.
 *
 * <pre>{@code
 * Replica ─▶ Upstreams ─▶ Upstream (address, TLS, Credentials) ─▶ proxy: traffic
 *                                                              ─▶ EngineClient: our questions
 * }</pre>
 *
 * <p>Start with {@link Upstreams}, by which traffic, health checks and all other questions reach a
 * replica. {@link EngineClient} asks the router's own questions over connections of its own, {@link
 * EngineHttp} those that wait for an answer. {@code Upstreams.AnswerHeads} handles response heads
 * that Vert.x would misread.
 */
@NullMarked
package dev.warmpath.router.upstream;

import org.jspecify.annotations.NullMarked;
