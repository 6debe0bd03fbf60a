/**
 * Capture files: what engines published, which requests they got and what they served, in order.
 * Only the format is here; the router and the simulator record, replay and verify.
 *
 * <pre>{@code
 * CaptureHeader, CaptureRecord … ─▶ CaptureSink: CaptureWriter, RotatingCaptureWriter ─▶ file
 * file ─▶ CaptureReader ─▶ CaptureHeader, CaptureRecord …
 * }</pre>
 *
 * <p>Start with {@link CaptureRecord} for the kinds of records, then {@link CaptureReader}. {@link
 * CaptureFormat} maps both to the MessagePack values of the file. {@link RotatingCaptureWriter}
 * writes a row of files and keeps the last ones. A file that was cut still gives all its whole
 * records; any other damage is a {@link CaptureException}.
 */
@NullMarked
package dev.warmpath.eventingest.capture;

import org.jspecify.annotations.NullMarked;
