/**
 * Engine hashes that no event explains: they are computed here from prompts.
 *
 * <pre>{@code
 * a prompt for an engine  ─▶ PromptHasher (own thread) ─▶ HashedPrompt ─▶ EventApplier.computed
 * first page of an SGLang store ─▶ SglangNamespaces ─▶ PageHasher ─▶ the chain's name space
 * }</pre>
 *
 * <p>Start with {@link PromptHasher}: when blocks of an engine wait for parents that no event
 * names, and the engine hashes by a {@link KnownScheme}, the prompts sent to it give those names.
 * {@link SglangNamespaces} solves another problem, SGLang's: no event field shows the {@code
 * extra_key} of a request, but the first page's hash does. {@link SglangRules} and {@link
 * EventFormat} are what an operator says about an SGLang engine.
 */
@NullMarked
package dev.warmpath.eventingest.hashing;

import org.jspecify.annotations.NullMarked;
