/**
 * What leaves the process about its work, on disk or to a collector: request logs, captures,
 * traces. No request waits for disk or collector.
 *
 * <pre>{@code
 * Decision         ─▶ RequestLogs ─▶ RequestLog ─▶ DiskQueue ─▶ LogFiles
 * events, requests ─▶ FleetCapture ─▶ EventTap, RequestTap ─▶ TapQueue ─▶ DiskQueue ─▶ captures
 * RequestTrace     ─▶ Tracing ─▶ SpanQueue ─▶ OTLP collector
 * }</pre>
 *
 * <p>Three parts, each with its door: {@link RequestLogs} (decision and access log), {@link
 * FleetCapture}, {@link Tracing}. {@link Decision} is a request that is over, {@link LogKey} the
 * secret that hides sessions and prefixes in the logs.
 */
@NullMarked
package dev.warmpath.router.logs;

import org.jspecify.annotations.NullMarked;
