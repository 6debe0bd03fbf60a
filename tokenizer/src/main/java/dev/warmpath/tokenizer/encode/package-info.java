/** Text to token ids and back, through the native tokenizers library. */
@NullMarked
package dev.warmpath.tokenizer.encode;

import org.jspecify.annotations.NullMarked;
