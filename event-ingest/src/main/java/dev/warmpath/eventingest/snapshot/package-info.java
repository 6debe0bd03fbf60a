/**
 * What one process knows of the engines, kept for the next one: beside the index where each
 * engine's stream stood, in one file with it, and what the next process makes of it.
 *
 * <pre>
 *   EventIngest ─▶ IngestSnapshot ─▶ Handover ─▶ SnapshotDirectory        the index's writer, then a thread
 *   SnapshotDirectory ─▶ IngestSnapshot ─▶ RestoredEngines ─▶ EngineStream  at the start
 * </pre>
 *
 * <p>Start with {@code IngestSnapshot}; how its fields lie in the stream is kv-index's {@code
 * snapshot}. {@code Recovery} counts what became of it.
 */
@NullMarked
package dev.warmpath.eventingest.snapshot;

import org.jspecify.annotations.NullMarked;
