/**
 * Requests for gpt-oss turned into prompts in the Harmony form, as vLLM writes them in code.
 *
 * <pre>{@code
 * /v1/chat/completions ─▶ HarmonyChats     ─▶ Preamble, ChatMessages  ─┐
 * /v1/responses        ─▶ HarmonyResponses ─▶ Preamble, ResponseItems ─┴▶ HarmonyConversation ─▶ text
 * }</pre>
 *
 * <p>Start with {@link HarmonyChats}. {@link Preamble} writes the system and developer messages,
 * with the date ({@link HarmonyChats.CurrentDate}) and the tools ({@link FunctionTools}, whose
 * schemas {@code TypeScript} shows). {@link HarmonyConversation} joins the {@link HarmonyMessage}s
 * into one text in which {@link HarmonyToken}s stand as placeholders, so that a client's text can
 * never become one of them.
 */
@NullMarked
package dev.warmpath.tokenizer.harmony;

import org.jspecify.annotations.NullMarked;
