/**
 * Python's values and operators, as templates see them.
 *
 * <pre>{@code
 * JSON of a request ─▶ Values.of ─▶ Java's String, Long, Double, List, Map …
 *                                   or None, Undefined, Tuple, Range, DictView, Namespace, Markup
 * a + b ─▶ Arithmetic   a < b ─▶ Comparison   a[b] ─▶ Indexing   for x in a ─▶ Iteration
 * str(a), repr(a) ─▶ Text   json.dumps(a) ─▶ JsonText
 * }</pre>
 *
 * <p>Start with {@link Values}, which says what every value has: a type and a truth. Each operator
 * is a class with static methods. {@link Callable} and {@link Attributes} are implemented by what a
 * running template adds: macros and loops.
 */
@NullMarked
package dev.warmpath.tokenizer.template.value;

import org.jspecify.annotations.NullMarked;
