/** The tokenizer files of a model directory, read and checked. */
@NullMarked
package dev.warmpath.tokenizer.files;

import org.jspecify.annotations.NullMarked;
