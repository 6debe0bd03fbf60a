/**
 * The fast index: runs of blocks in flat arrays, one writer, readers that never wait.
 *
 * <p>Begin with {@link dev.warmpath.kvindex.runs.RunKvIndex}. Below it, each package knows those
 * after it: {@code snapshot}, {@code query}, {@code engine}, {@code tree}, {@code memory}.
 */
@NullMarked
package dev.warmpath.kvindex.runs;

import org.jspecify.annotations.NullMarked;
