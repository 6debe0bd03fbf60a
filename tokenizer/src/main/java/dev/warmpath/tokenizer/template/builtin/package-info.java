/** What Jinja2 brings along: filters, tests, methods, globals. */
@NullMarked
package dev.warmpath.tokenizer.template.builtin;

import org.jspecify.annotations.NullMarked;
