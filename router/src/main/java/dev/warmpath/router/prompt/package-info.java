/**
 * From the bytes of a request to its prompt's tokens, on the event loop if that is short, else on
 * threads of its own. A prompt that cannot be known here is no error: its request is routed by
 * load, and the engine answers it.
 *
 * <pre>
 *   Exchange ─▶ PromptPool ─▶ PromptReader ─▶ body.BodyParser (tree), Tokenizers (tokens) ─▶ ReadRequest
 * </pre>
 *
 * <p>Start with {@code PromptReader}. {@code PromptWork} tells what bounds the time of an event
 * loop. {@code RemoteReader} asks an engine for prompts that only it can render, {@code BodyWatch}
 * sees what was read, to compare it with engines.
 */
@NullMarked
package dev.warmpath.router.prompt;

import org.jspecify.annotations.NullMarked;
