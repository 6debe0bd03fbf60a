/** How prompts are looked up while the tree is written. */
@NullMarked
package dev.warmpath.kvindex.runs.query;

import org.jspecify.annotations.NullMarked;
