/** The values of Python that Java has no type for. */
@NullMarked
package dev.warmpath.tokenizer.template.value;

import org.jspecify.annotations.NullMarked;
