/**
 * A chat request turned into the text that SGLang tokenizes for it; its rules differ from vLLM's.
 *
 * <pre>{@code
 * body ─▶ SglangMessages, SglangTools, SglangArguments ─▶ SglangRenderer ─▶ ChatTemplate ─▶ text
 * }</pre>
 *
 * <p>Start with {@link SglangRenderer}. What SGLang might render differently is refused as inexact.
 * {@code SglangRenderer.SglangEnding} decides what becomes of a chat whose last message is the
 * assistant's.
 */
@NullMarked
package dev.warmpath.tokenizer.sglang;

import org.jspecify.annotations.NullMarked;
