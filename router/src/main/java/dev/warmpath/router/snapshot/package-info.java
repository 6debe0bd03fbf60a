/**
 * Keeps what the process knows on disk, and begins with what an earlier one has left there.
 *
 * <p>{@code SnapshotKeeper} says when, {@code RestoredState} what becomes of it at the start. What
 * a snapshot holds is {@code eventingest.snapshot.IngestSnapshot}.
 */
@NullMarked
package dev.warmpath.router.snapshot;

import org.jspecify.annotations.NullMarked;
