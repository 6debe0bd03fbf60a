/**
 * What one process knows of the engines' streams, kept for the next process: one file with the
 * index.
 *
 * <pre>{@code
 * EventIngest ─▶ IngestSnapshot ─▶ Handover ─▶ SnapshotDirectory       writer, then a thread
 * SnapshotDirectory ─▶ IngestSnapshot ─▶ RestoredEngines ─▶ EngineStream       at the start
 * }</pre>
 *
 * <p>Start with {@link IngestSnapshot}: an {@link EngineSnapshot} for each engine, with the
 * position of its stream ({@link StreamSnapshot}). {@link Handover} keeps the writer from waiting
 * for the disk. {@link RestoredEngines} gives each restored engine to its configured source; {@link
 * Recovery} counts which of them proved to be unchanged, as an {@link EngineFate}. How fields lie
 * in the file is defined in {@code kvindex.snapshot}.
 */
@NullMarked
package dev.warmpath.eventingest.snapshot;

import org.jspecify.annotations.NullMarked;
