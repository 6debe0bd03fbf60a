/**
 * What the events of one engine mean, and room for what they store.
 *
 * <p>Start with {@code RunEngine}. {@code Placement} finds where a stored run belongs in the tree,
 * {@code UnnamedBlocks} keeps those whose parent is unknown, {@code SuspendedBlocks} those that are
 * held but not credited, {@code Room} makes place when memory is short.
 */
@NullMarked
package dev.warmpath.kvindex.runs.engine;

import org.jspecify.annotations.NullMarked;
