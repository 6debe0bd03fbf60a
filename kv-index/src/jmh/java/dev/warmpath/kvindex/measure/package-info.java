/** What the index's inner operations cost, one operation a class. */
@NullMarked
package dev.warmpath.kvindex.measure;

import org.jspecify.annotations.NullMarked;
