/**
 * The endpoint picker: Envoy has the connections, and asks over its {@code ext_proc} protocol which
 * replica gets a request. Each request is one call of gRPC.
 *
 * <pre>{@code
 * Envoy ─▶ PickerVerticle ─▶ GrpcCall ─▶ ExtProc.Request ─▶ Picking ─▶ RoutedRequest   head, body
 * Envoy ◀─────────────────── GrpcCall ◀─ ExtProc.pick    ◀─ Picking ◀─ Assignment      endpoint
 * Envoy ─▶ the answer's head and pieces, which go back ─▶ AnswerWatch                  usage
 * }</pre>
 *
 * <p>Start with {@link Picking}. How a request finds its engine is the proxy's {@code
 * proxy.RoutedRequest}. {@link Wire} and {@link GrpcCall} are as much of protobuf and gRPC as is
 * needed, {@link Endpoints} names replicas as a gateway does. {@link PoolMetrics} shows the fleet
 * as dashboards of other pickers read it.
 */
@NullMarked
package dev.warmpath.router.picker;

import org.jspecify.annotations.NullMarked;
