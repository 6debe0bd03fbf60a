/**
 * {@code bench gateway} and {@code bench restart}: what a request through the router costs beside
 * other gateways, and what streams notice when routers restart.
 *
 * <pre>{@code
 * GatewayBench ─▶ Rounds ─▶ TurnRunner ─▶ LoadClient ─▶ Gateway ─▶ StubServer
 *                              └▶ TurnRunner.Turn ─▶ GatewayReport
 * }</pre>
 *
 * <p>Start with {@link GatewayBench}, then {@link TurnRunner}. {@link Backends} is the process of
 * the stub replicas, {@link Gateway} whatever stands before them: our router, a peer or nothing.
 * {@link LoadClient.OpenLoop} starts each request at its fixed instant, whatever became of those
 * before. {@code BenchRestartCommand.RestartBench} restarts two routers behind its own balancer.
 */
@NullMarked
package dev.warmpath.lab.gateway;

import org.jspecify.annotations.NullMarked;
