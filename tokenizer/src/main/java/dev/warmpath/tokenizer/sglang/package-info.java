/** A chat request turned into the text that SGLang will tokenize. */
@NullMarked
package dev.warmpath.tokenizer.sglang;

import org.jspecify.annotations.NullMarked;
