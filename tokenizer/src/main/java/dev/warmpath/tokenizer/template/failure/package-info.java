/**
 * How a template fails: what Jinja2 raises too, and what is not implemented here. {@code
 * ChatTexts.inexact} makes a cause of fallback of it.
 */
@NullMarked
package dev.warmpath.tokenizer.template.failure;

import org.jspecify.annotations.NullMarked;
