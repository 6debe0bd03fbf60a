/** Where a text may be cut so that its parts, encoded alone, give the tokens of the whole. */
@NullMarked
package dev.warmpath.tokenizer.encode.cut;

import org.jspecify.annotations.NullMarked;
