/** An OpenAI chat request turned into the text that the engine will tokenize. */
@NullMarked
package dev.warmpath.tokenizer.chat;

import org.jspecify.annotations.NullMarked;
