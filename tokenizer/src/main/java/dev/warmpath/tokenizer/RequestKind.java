package dev.warmpath.tokenizer;

/** Which of the engine's routes a request came in by, and so how its prompt is to be read. */
public enum RequestKind {
  /** {@code /v1/chat/completions}: messages, rendered through the model's template. */
  CHAT,
  /** {@code /v1/completions}: a text, token ids, or a list of either. */
  COMPLETION,
  /** {@code /v1/messages}: Anthropic's form of a chat. */
  MESSAGES,
  /** {@code /v1/responses}: items of input, of which the engine makes a chat. */
  RESPONSES
}
