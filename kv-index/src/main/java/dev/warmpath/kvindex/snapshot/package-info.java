/**
 * The bytes of a snapshot: what one process knows of the engines, saved for the next process or
 * sent to a neighbour. docs/snapshot-format.md has the table of all fields.
 *
 * <pre>{@code
 * owners' fields ─▶ SnapshotOutput ─▶ magic | version | part … | last part ─▶ SnapshotInput
 * part:  section, "goes on" | length | fields | CRC-32C of all before
 * }</pre>
 *
 * <p>Start with {@link SnapshotOutput}; {@link SnapshotInput} reads the same and returns nothing
 * before its checksum matched. Only the stream is defined here. What a {@link Section} contains is
 * defined beside its owner, writing and reading together: head and streams in {@code
 * eventingest.snapshot}, the index in {@code runs.EngineSections} and {@code runs.TreeSections}.
 */
@NullMarked
package dev.warmpath.kvindex.snapshot;

import org.jspecify.annotations.NullMarked;
