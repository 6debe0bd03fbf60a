/**
 * The bytes of a snapshot: what one process knows of the engines, for the one that comes after it
 * or stands beside it. docs/snapshot-format.md has the table of all fields.
 *
 * <pre>
 *   magic | version | part … | last part
 *   part    section, "goes on" | length | fields | CRC-32C of all before
 * </pre>
 *
 * <p>Start with {@code SnapshotOutput}. What a section says stands beside its owner, its writing
 * and its reading one below the other: head and streams in {@code eventingest.snapshot}, the index
 * in {@code runs.EngineSections} and {@code runs.TreeSections}; here is only how fields lie in a
 * stream.
 */
@NullMarked
package dev.warmpath.kvindex.snapshot;

import org.jspecify.annotations.NullMarked;
