/** The tree of a template. */
@NullMarked
package dev.warmpath.tokenizer.template.tree;

import org.jspecify.annotations.NullMarked;
