/** A tree turned into something that runs, and the run. */
@NullMarked
package dev.warmpath.tokenizer.template.eval;

import org.jspecify.annotations.NullMarked;
