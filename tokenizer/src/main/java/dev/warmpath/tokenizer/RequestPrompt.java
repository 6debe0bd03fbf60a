package dev.warmpath.tokenizer;

import dev.warmpath.kvindex.block.PromptKeys;

/** What a request asks the engine to tokenize, with what it says about it. */
record RequestPrompt(PromptContent content, PromptOptions options, PromptKeys keys) {}
