/**
 * From the bytes of a request to its prompt's tokens, on the event loop if that is short, else on
 * threads of its own. A prompt that cannot be known here is no error: its request is routed by
 * load, and the engine answers it.
 *
 * <pre>{@code
 * Exchange ─▶ PromptPool ─▶ PromptReader ─▶ BodyParser (tree), Tokenizers (tokens) ─▶ ReadRequest
 *              LoopBudget      PromptWork                                        PreparedRequest
 * }</pre>
 *
 * <p>Start with {@link PromptReader}; {@link PromptPool} decides which thread reads. {@link
 * BodyParser} parses what a body shares with earlier ones only once, {@link BodyFields} finds the
 * other fields without parsing the prompt. {@link ReadingTime} and {@link LoopBudget} bound the
 * time that prompts may take of an event loop, {@link TreeRoom} the heap. A {@link
 * PromptPool.RemoteReader} asks an engine for prompts that only it can render; a {@link
 * PromptPool.BodyWatch} sees what was read, to compare it with engines.
 */
@NullMarked
package dev.warmpath.router.prompt;

import org.jspecify.annotations.NullMarked;
