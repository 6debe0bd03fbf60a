/** What a template writes. */
@NullMarked
package dev.warmpath.tokenizer.template.output;

import org.jspecify.annotations.NullMarked;
