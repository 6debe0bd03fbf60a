package dev.warmpath.tokenizer;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.body.InexactPromptException;
import java.util.ArrayList;
import java.util.List;

/** What an engine takes a prompt from. */
sealed interface PromptContent {

  /** Texts, each the whole of one prompt. */
  record Texts(List<String> texts) implements PromptContent {}

  /** The text of one prompt with {@code encode.SpecialPlaceholders} for its special tokens. */
  record WithSpecials(String text) implements PromptContent {}

  /** Token ids of one prompt or several, each within the model's range. */
  record TokenIds(List<int[]> sequences) implements PromptContent {}

  /**
   * The {@code prompt} of a completions request in one of its four forms.
   *
   * @param maxTokenId the largest id that the engine takes
   * @throws InexactPromptException if it is none of them
   */
  static PromptContent read(JsonNode prompt, int maxTokenId) {
    if (prompt.isTextual()) {
      return new Texts(List.of(prompt.textValue()));
    }
    JsonNode first = prompt.path(0);
    if (first.isTextual()) {
      return readTexts(prompt);
    }
    return first.isArray()
        ? readSequences(prompt, maxTokenId)
        : readSequences(List.of(prompt), maxTokenId);
  }

  private static PromptContent readTexts(JsonNode prompt) {
    List<String> texts = new ArrayList<>(prompt.size());
    for (JsonNode text : prompt) {
      require(text.isTextual());
      texts.add(text.textValue());
    }
    return new Texts(texts);
  }

  private static PromptContent readSequences(Iterable<JsonNode> prompts, int maxTokenId) {
    List<int[]> sequences = new ArrayList<>();
    for (JsonNode prompt : prompts) {
      require(prompt.isArray());
      prompt.forEach(id -> require(id.isIntegralNumber()));
      int[] ids = new int[prompt.size()];
      for (int i = 0; i < ids.length; i++) {
        JsonNode id = prompt.get(i);
        if (!id.canConvertToInt() || id.intValue() < 0 || id.intValue() > maxTokenId) {
          throw new InexactPromptException(
              FallbackCause.TOKEN_OUT_OF_RANGE, "a token id is not in 0.." + maxTokenId);
        }
        ids[i] = id.intValue();
      }
      sequences.add(ids);
    }
    return new TokenIds(sequences);
  }

  private static void require(boolean holds) {
    if (!holds) {
      throw InexactPromptException.invalid(
          "prompt must be a text, token ids, or a list of one of the two");
    }
  }
}
