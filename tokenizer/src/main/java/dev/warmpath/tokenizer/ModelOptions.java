package dev.warmpath.tokenizer;

import dev.warmpath.tokenizer.chat.ChatOptions;
import dev.warmpath.tokenizer.encode.EncodeBudget;

/**
 * How a model is loaded: how its engine was started, and what may be spent on it here.
 *
 * @param chat what changes how chats look
 * @param maxModelTokens {@code --max-model-len}, which {@code truncate_prompt_tokens: -1} cuts to;
 *     {@link #UNKNOWN} refuses such requests
 * @param budget what may be remembered of encoded texts
 */
public record ModelOptions(ChatOptions chat, long maxModelTokens, EncodeBudget budget) {

  /** Nothing is known of the length that the engine was started with. */
  public static final long UNKNOWN = 0;

  public ModelOptions {
    if (maxModelTokens < 0) {
      throw new IllegalArgumentException("maxModelTokens=" + maxModelTokens);
    }
  }

  /** With the usual budget. */
  public ModelOptions(ChatOptions chat, long maxModelTokens) {
    this(chat, maxModelTokens, EncodeBudget.defaults());
  }

  /** The same with another budget. */
  public ModelOptions with(EncodeBudget other) {
    return new ModelOptions(chat, maxModelTokens, other);
  }

  /** For an engine that was started without any option that matters here. */
  public static ModelOptions defaults() {
    return new ModelOptions(ChatOptions.defaults(), UNKNOWN);
  }
}
