/**
 * An engine's part in disaggregated serving: one computes a prompt, another one answers.
 *
 * <p>Begin with {@link dev.warmpath.simulator.live.transfer.KvTransfers}. What a request asks for
 * is a {@link dev.warmpath.simulator.live.transfer.TransferLeg}; how connectors differ stands in
 * {@link dev.warmpath.simulator.live.transfer.KvConnector}.
 *
 * <pre>
 * router ──request──▶ prefill engine: computes, holds the blocks        ──answer──▶ router
 *                          ▲ │
 *             POST /sim/kv │ │ after the transfer's time; the blocks are freed
 *                          │ ▼
 * router ──request──▶ decode engine: takes the blocks, computes the rest ──answer──▶ client
 * </pre>
 */
@NullMarked
package dev.warmpath.simulator.live.transfer;

import org.jspecify.annotations.NullMarked;
