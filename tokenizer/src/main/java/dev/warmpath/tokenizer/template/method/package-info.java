/** Attributes, items and methods of values. */
@NullMarked
package dev.warmpath.tokenizer.template.method;

import org.jspecify.annotations.NullMarked;
