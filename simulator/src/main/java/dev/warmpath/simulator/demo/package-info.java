/**
 * Chats sent to a router and what came back: the demo, {@code check-live}, and the loads of
 * benches.
 *
 * <pre>{@code
 * ChatLoad    ─▶ LoadRun    ─▶ ChatSender ─▶ ChatReply ─▶ LoadReport
 * SessionLoad ─▶ SessionRun ─▶  │                      ─▶ SessionReport
 *                               ├ ChatClient: HTTP to a router
 *                               └ LiveCheck: the same, and a PredictionVerdict on each prediction
 * }</pre>
 *
 * <p>Start with {@link Demo}: a {@link Demo.DemoFleet} of simulated engines behind a router in this
 * process gets the same chats under one policy after the other, and a {@link DemoReport} compares
 * them. {@link LiveCheck} judges for {@code check-live}: each prediction against what a running
 * engine says it reused, where {@link EvictionWatch} excuses blocks that were evicted meanwhile.
 * {@link LoadRun} is a closed loop of clients, {@link SessionRun} an open loop of sessions.
 */
@NullMarked
package dev.warmpath.simulator.demo;

import org.jspecify.annotations.NullMarked;
