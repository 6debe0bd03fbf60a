/**
 * An OpenAI chat request turned into the text that vLLM tokenizes for it.
 *
 * <pre>{@code
 * body ─▶ ChatRequest ─▶ MessageReader (ContentReader) ─┐
 *                     ─▶ ToolReader                     ├▶ ChatRenderer ─▶ ChatTemplate ─▶ text
 *                     ─▶ TemplateArguments ─────────────┘
 * }</pre>
 *
 * <p>Start with {@link ChatRenderer}, then {@link ChatRequest}, which reads the body as the engine
 * does. {@link ChatTexts} is the interface of everything that renders a kind of request, {@link
 * ModelChats} of what renders a model's chats also for other APIs. {@link ChatOptions} says how the
 * engine was started. {@code ChatRenderer.DeveloperRole} and {@code ChatRenderer.FinalMessage} are
 * two rules of the engine: for roles that the template does not know, and for a last message that
 * the model continues.
 */
@NullMarked
package dev.warmpath.tokenizer.chat;

import org.jspecify.annotations.NullMarked;
