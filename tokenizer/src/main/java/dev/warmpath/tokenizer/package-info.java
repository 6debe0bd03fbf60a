/** A request's prompt turned into the exact token ids that the engine will compute. */
@NullMarked
package dev.warmpath.tokenizer;

import org.jspecify.annotations.NullMarked;
