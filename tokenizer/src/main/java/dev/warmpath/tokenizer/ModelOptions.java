package dev.warmpath.tokenizer;

import dev.warmpath.tokenizer.chat.ChatOptions;

/**
 * How a model is loaded: how its engine was started, and what may be spent on it here.
 *
 * <p>Immutable.
 *
 * @param chat what changes how chats look
 * @param maxModelTokens {@code --max-model-len}, which {@code truncate_prompt_tokens: -1} cuts to;
 *     {@link #UNKNOWN} refuses such requests
 */
public record ModelOptions(ChatOptions chat, long maxModelTokens) {

  /** Nothing is known of the length that the engine was started with. */
  public static final long UNKNOWN = 0;

  public ModelOptions {
    if (maxModelTokens < 0) {
      throw new IllegalArgumentException("maxModelTokens=" + maxModelTokens);
    }
  }

  /** For an engine that was started without any option that matters here. */
  public static ModelOptions defaults() {
    return new ModelOptions(ChatOptions.defaults(), UNKNOWN);
  }
}
