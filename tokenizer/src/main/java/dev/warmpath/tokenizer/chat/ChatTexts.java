package dev.warmpath.tokenizer.chat;

import com.fasterxml.jackson.databind.node.ObjectNode;

/** Turns request bodies of one kind into the text that an engine tokenizes. Thread-safe. */
@FunctionalInterface
public interface ChatTexts {

  /** The text of the chat in this request body, which is what Jackson reads with its defaults. */
  ChatPrompt render(ObjectNode body);
}
