/** Requests of Anthropic's Messages API turned into chats as vLLM turns them. */
@NullMarked
package dev.warmpath.tokenizer.anthropic;

import org.jspecify.annotations.NullMarked;
