/** Chat templates: Jinja2 as the engines run it, with Python's values. */
@NullMarked
package dev.warmpath.tokenizer.template;

import org.jspecify.annotations.NullMarked;
