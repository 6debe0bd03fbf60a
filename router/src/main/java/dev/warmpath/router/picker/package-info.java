/**
 * The endpoint picker: Envoy has the connections, and asks over its {@code ext_proc} protocol which
 * replica gets a request. Each request is one call of gRPC.
 *
 * <pre>
 *  Envoy ─▶ PickerVerticle ─▶ GrpcCall ─▶ ExtProc.Request ─▶ Picking ─▶ RoutedRequest   head, body
 *  Envoy ◀─────────────────── GrpcCall ◀─ ExtProc.Answer  ◀─ Picking ◀─ Assignment      endpoint
 *  Envoy ─▶ the answer's head and pieces, which go back ─▶ AnswerWatch                  usage
 * </pre>
 *
 * <p>{@code PoolMetrics} shows the fleet as dashboards of other pickers read it.
 *
 * <p>Start with {@link dev.warmpath.router.picker.Picking}. How a request finds its engine is the
 * proxy's {@link dev.warmpath.router.proxy.RoutedRequest}.
 */
@NullMarked
package dev.warmpath.router.picker;

import org.jspecify.annotations.NullMarked;
