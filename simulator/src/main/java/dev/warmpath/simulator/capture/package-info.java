/**
 * Capture files at work: recorded from engines, replayed as an engine, verified, cut, merged,
 * compared and shown. The format itself is {@code eventingest.capture}.
 *
 * <pre>{@code
 * engines ─▶ CaptureRecorder ─▶ file
 * file ─▶ CaptureVerifier ─▶ RecordedEngine ─▶ EngineStream ─▶ index ─▶ VerifyReport
 *      ─▶ CapturePublisher ─▶ ZeroMQ, as the recorded engine did
 *      ─▶ CaptureCut, CaptureMerge, CaptureDiff, CaptureStats
 * }</pre>
 *
 * <p>Start with {@link CaptureVerifier}, which applies a capture to an index and judges each
 * prediction by what the engine says it reused. {@link CaptureRecorder} and {@link
 * CapturePublisher} are the two ends of live streams. A {@link FaultyFeed} loses, repeats, reorders
 * and cuts messages on the way. The commands are {@code capture} and {@code replay} of {@code cli}.
 */
@NullMarked
package dev.warmpath.simulator.capture;

import org.jspecify.annotations.NullMarked;
