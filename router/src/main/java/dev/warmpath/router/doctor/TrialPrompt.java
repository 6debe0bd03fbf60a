package dev.warmpath.router.doctor;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.router.dispatch.Prompt;
import dev.warmpath.tokenizer.ModelTokenizer;
import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.RequestKind;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A request for one token whose prompt no engine has seen, of some hundred words that say nothing.
 *
 * @param path the route that it is for
 * @param body its JSON
 * @param prompt as the router reads it
 */
record TrialPrompt(String path, ObjectNode body, Prompt prompt) {

  private static final String[] WORDS = {
    "river", "stone", "window", "garden", "letter", "bridge", "market", "winter", "forest", "island"
  };

  /**
   * A chat if the model has a template, else a completion.
   *
   * @param words at least so many tokens
   * @param tokenizer null if the model has none here
   */
  static TrialPrompt of(String model, int words, @Nullable ModelTokenizer tokenizer) {
    String text = text(words);
    ObjectNode chat = request(model);
    chat.putArray("messages").addObject().put("role", "user").put("content", text);
    PromptResult read = tokenizer == null ? null : tokenizer.prompt(RequestKind.CHAT, chat, null);
    if (read instanceof PromptResult.Tokens) {
      return new TrialPrompt("/v1/chat/completions", chat, Prompt.of(read));
    }
    ObjectNode completion = request(model).put("prompt", text);
    return new TrialPrompt(
        "/v1/completions",
        completion,
        Prompt.of(
            tokenizer == null ? null : tokenizer.prompt(RequestKind.COMPLETION, completion, null)));
  }

  private static ObjectNode request(String model) {
    return JsonNodeFactory.instance
        .objectNode()
        .put("model", model)
        .put("max_tokens", 1)
        .put("temperature", 0);
  }

  private static String text(int words) {
    StringBuilder text = new StringBuilder("warmpath doctor " + UUID.randomUUID());
    for (int i = 0; i < words; i++) {
      text.append(' ').append(WORDS[i % WORDS.length]);
    }
    return text.toString();
  }

  byte[] bytes() {
    return body.toString().getBytes(StandardCharsets.UTF_8);
  }

  /** Length of the prompt; 0 if it is not known here. */
  int tokens() {
    return prompt.tokens() == null ? 0 : prompt.tokens().totalTokens();
  }
}
