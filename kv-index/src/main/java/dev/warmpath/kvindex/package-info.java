/** Who holds which block: the index that the write path fills and the read path asks. */
@NullMarked
package dev.warmpath.kvindex;

import org.jspecify.annotations.NullMarked;
