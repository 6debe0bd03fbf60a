/** How a snapshot of the run index lies in a stream; docs/index-snapshot.md describes it. */
@NullMarked
package dev.warmpath.kvindex.runs.snapshot;

import org.jspecify.annotations.NullMarked;
