/**
 * A request's prompt turned into the exact token ids that the engine will compute, or into the
 * reason why they cannot be known here.
 *
 * <pre>{@code
 * body, RequestKind ─▶ ModelTokenizer ─▶ ChatTexts.render ─▶ PromptEncoder ─▶ PromptResult
 *                        PromptOptions     text               token ids        Tokens or Inexact
 * }</pre>
 *
 * <p>Start with {@link ModelTokenizer}, one for each model, loaded from {@code files.ModelFiles}.
 * {@link ChatPrompts} chooses who renders each kind of request: {@code chat} by the model's {@code
 * template}; {@code apis} for the Messages and Responses APIs; {@code sglang}; {@code harmony} and
 * {@code deepseek} for models whose prompts the engine builds in code. {@link PromptEncoder}
 * encodes with {@code encode}, {@code image} puts the placeholders of images among the tokens.
 * {@code body} has the types that all of them share.
 */
@NullMarked
package dev.warmpath.tokenizer;

import org.jspecify.annotations.NullMarked;
