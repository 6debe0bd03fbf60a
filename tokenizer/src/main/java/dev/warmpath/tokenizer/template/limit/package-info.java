/** How much work a template may do. */
@NullMarked
package dev.warmpath.tokenizer.template.limit;

import org.jspecify.annotations.NullMarked;
