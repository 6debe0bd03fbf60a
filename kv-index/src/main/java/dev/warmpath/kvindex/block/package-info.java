/** What a block is: its tokens, its extra keys and the hashes that name it. */
@NullMarked
package dev.warmpath.kvindex.block;

import org.jspecify.annotations.NullMarked;
