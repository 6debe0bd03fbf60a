/** The flat arrays that the run index is made of, and the bytes they take. */
@NullMarked
package dev.warmpath.kvindex.runs.memory;

import org.jspecify.annotations.NullMarked;
