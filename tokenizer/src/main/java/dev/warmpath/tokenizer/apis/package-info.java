/**
 * Requests of Anthropic's Messages API and of OpenAI's Responses API, turned into chats as vLLM
 * turns them.
 *
 * <pre>{@code
 * /v1/messages  ─▶ MessagesTexts  ─▶ Conversation, ToolDefinitions ─┐
 *                                                                   ├▶ chat body ─▶ ModelChats
 * /v1/responses ─▶ ResponsesTexts ─▶ Items, Tools ──────────────────┘
 * }</pre>
 *
 * <p>Start with {@link MessagesTexts} and {@link ResponsesTexts}, one for each route; both make the
 * body of a chat request, which {@code chat.ModelChats} renders. {@link ContentBlocks} takes the
 * content of a message apart, {@code Items} the input of a response. {@link Probes} tries a model's
 * templates, as the engine does, to find out what they support.
 */
@NullMarked
package dev.warmpath.tokenizer.apis;

import org.jspecify.annotations.NullMarked;
