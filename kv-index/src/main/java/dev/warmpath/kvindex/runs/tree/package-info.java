/** The tree of runs: which blocks follow which, and who holds them. */
@NullMarked
package dev.warmpath.kvindex.runs.tree;

import org.jspecify.annotations.NullMarked;
