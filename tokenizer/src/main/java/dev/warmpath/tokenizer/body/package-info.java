/**
 * What every reader of a request's body shares: typed access to its fields, and the reasons why a
 * prompt cannot be known.
 *
 * <pre>{@code
 * a field with a wrong type, a part not known here ─▶ InexactPromptException (FallbackCause)
 *     ─▶ PromptResult.Inexact: the request is routed by load
 * }</pre>
 *
 * <p>Start with {@link FallbackCause}, the list of reasons, also of the router's own such as a full
 * queue, and the label of a metric. {@link Fields} reads fields with their types checked. {@link
 * HiddenNamespace} reads which name space of SGLang's a request asks for.
 */
@NullMarked
package dev.warmpath.tokenizer.body;

import org.jspecify.annotations.NullMarked;
