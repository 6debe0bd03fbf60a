/** A small byte-level BPE trainer, which made the embedded tokenizer. */
@NullMarked
package dev.warmpath.tokenizer.train;

import org.jspecify.annotations.NullMarked;
