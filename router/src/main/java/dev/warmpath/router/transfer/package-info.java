/**
 * How a request is split over two engines: one computes its prompt (prefill), the other one its
 * answer (decode), and the KV cache goes from the first to the second.
 *
 * <pre>
 *   body of the client ─▶ RequestFields ─▶ KvProtocol.prefill ─▶ prefill's body
 *                                          KvProtocol.decode  ─▶ decode's body
 *   prefill's answer ────────────────────────────┘ (where the decode needs it)
 * </pre>
 *
 * <p>Start with {@link dev.warmpath.router.transfer.KvProtocol}: what each connector wants in the
 * two bodies, and whether they go up one after the other or together. The way of both requests is
 * the proxy's; which engines they go to is the dispatcher's.
 */
@NullMarked
package dev.warmpath.router.transfer;

import org.jspecify.annotations.NullMarked;
