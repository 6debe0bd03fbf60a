/** What Python does with values: arithmetic, comparison, text forms, indexing. */
@NullMarked
package dev.warmpath.tokenizer.template.op;

import org.jspecify.annotations.NullMarked;
