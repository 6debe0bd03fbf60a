/** How held blocks become reusable tokens. */
@NullMarked
package dev.warmpath.kvindex.reuse;

import org.jspecify.annotations.NullMarked;
