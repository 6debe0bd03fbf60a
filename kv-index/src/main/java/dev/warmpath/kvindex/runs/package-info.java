/**
 * The fast index: runs of blocks in flat arrays, one writer, readers that never wait.
 *
 * <p>Begin with {@link dev.warmpath.kvindex.runs.RunKvIndex}.
 */
@NullMarked
package dev.warmpath.kvindex.runs;

import org.jspecify.annotations.NullMarked;
