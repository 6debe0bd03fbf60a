/** How a template fails, and how much work it may do. */
@NullMarked
package dev.warmpath.tokenizer.template.limit;

import org.jspecify.annotations.NullMarked;
