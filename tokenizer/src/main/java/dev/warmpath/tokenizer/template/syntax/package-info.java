/** Template text turned into a tree. */
@NullMarked
package dev.warmpath.tokenizer.template.syntax;

import org.jspecify.annotations.NullMarked;
