/**
 * Who holds which block: the index that the write path fills and the read path asks.
 *
 * <p>Start with {@code KvIndex}. {@code block} says what a block is and how it is named, {@code
 * reuse} what an engine makes of the blocks that it holds, {@code runs} is the index itself, {@code
 * snapshot} the frame in which it is kept.
 */
@NullMarked
package dev.warmpath.kvindex;

import org.jspecify.annotations.NullMarked;
