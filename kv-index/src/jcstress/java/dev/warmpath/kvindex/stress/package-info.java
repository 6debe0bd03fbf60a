/** What readers of the index may see while it is written, one claim a class. */
@NullMarked
package dev.warmpath.kvindex.stress;

import org.jspecify.annotations.NullMarked;
