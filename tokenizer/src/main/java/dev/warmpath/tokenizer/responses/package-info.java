/** Requests of OpenAI's Responses API turned into chats as vLLM turns them. */
@NullMarked
package dev.warmpath.tokenizer.responses;

import org.jspecify.annotations.NullMarked;
