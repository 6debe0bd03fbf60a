/**
 * What Jinja2 and Python bring along: filters, tests, global functions, and the methods of values.
 *
 * <pre>{@code
 * x | name(…)    ─▶ Filters ─▶ TextFilters, SelectionFilters, SequenceFilters
 * x is name(…)   ─▶ Tests
 * x.name, x[y]   ─▶ Members ─▶ StringMethods for texts
 * name(…)        ─▶ Globals
 * }</pre>
 *
 * <p>Start with {@link Filters} or {@link Members}; each finds by its name a {@link Method}, which
 * the compiled template calls. A name that is not found is undefined, or an error, as in Jinja2.
 * {@link Args} reads arguments with their types checked. {@link LoopState} is the variable {@code
 * loop}.
 */
@NullMarked
package dev.warmpath.tokenizer.template.builtin;

import org.jspecify.annotations.NullMarked;
