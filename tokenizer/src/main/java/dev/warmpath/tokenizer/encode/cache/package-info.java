/** What is remembered of encoded texts, bounded by bytes. */
@NullMarked
package dev.warmpath.tokenizer.encode.cache;

import org.jspecify.annotations.NullMarked;
