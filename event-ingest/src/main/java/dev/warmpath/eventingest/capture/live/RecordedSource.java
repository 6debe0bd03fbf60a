package dev.warmpath.eventingest.capture.live;

import dev.warmpath.eventingest.capture.CaptureStream;
import org.jspecify.annotations.Nullable;

/**
 * An engine to record.
 *
 * <p>Immutable.
 *
 * @param stream how the capture's header names it
 * @param endpoint where it publishes
 * @param replayEndpoint where it answers replays, or null
 * @param topic only messages whose topic begins so; empty for all
 */
public record RecordedSource(
    CaptureStream stream, String endpoint, @Nullable String replayEndpoint, String topic) {}
