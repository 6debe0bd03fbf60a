/**
 * The fast index: runs of blocks in flat arrays, one writer, readers that never wait.
 *
 * <p>Begin with {@link dev.warmpath.kvindex.runs.RunKvIndex}. Below it, each package knows those
 * after it: {@code query}, {@code engine}, {@code tree}, {@code memory}. Beside it stand the
 * sections of a snapshot that tell of engines and of the tree.
 */
@NullMarked
package dev.warmpath.kvindex.runs;

import org.jspecify.annotations.NullMarked;
