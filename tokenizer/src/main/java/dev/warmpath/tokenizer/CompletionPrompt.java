package dev.warmpath.tokenizer;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.tokenizer.PromptResult.Inexact;
import dev.warmpath.tokenizer.PromptResult.Reason;
import java.util.ArrayList;
import java.util.List;

/**
 * The {@code prompt} of a completions request in one of its four forms.
 *
 * <p>Immutable.
 */
sealed interface CompletionPrompt {

  /** One text or several. */
  record Texts(List<String> texts) implements CompletionPrompt {}

  /** Token ids of one prompt or several, each within the model's range. */
  record TokenIds(List<int[]> sequences) implements CompletionPrompt {}

  /** None of the forms. */
  record Refused(Inexact why) implements CompletionPrompt {}

  /**
   * Reads the prompt.
   *
   * @param maxTokenId the largest id that the engine takes
   */
  static CompletionPrompt read(JsonNode prompt, int maxTokenId) {
    if (prompt.isTextual()) {
      return new Texts(List.of(prompt.textValue()));
    }
    JsonNode first = prompt.path(0);
    if (first.isTextual()) {
      return readTexts(prompt);
    }
    if (first.isIntegralNumber()) {
      return readSequences(List.of(prompt), maxTokenId);
    }
    if (first.isArray()) {
      return readSequences(prompt, maxTokenId);
    }
    return malformed();
  }

  private static CompletionPrompt readTexts(JsonNode prompt) {
    List<String> texts = new ArrayList<>(prompt.size());
    for (JsonNode text : prompt) {
      if (!text.isTextual()) {
        return malformed();
      }
      texts.add(text.textValue());
    }
    return new Texts(texts);
  }

  private static CompletionPrompt readSequences(Iterable<JsonNode> prompts, int maxTokenId) {
    List<int[]> sequences = new ArrayList<>();
    for (JsonNode prompt : prompts) {
      if (!prompt.isArray() || !holdsIntegers(prompt)) {
        return malformed();
      }
      int[] ids = new int[prompt.size()];
      for (int i = 0; i < ids.length; i++) {
        JsonNode id = prompt.get(i);
        if (!id.canConvertToInt() || id.intValue() < 0 || id.intValue() > maxTokenId) {
          return new Refused(
              new Inexact(Reason.TOKEN_OUT_OF_RANGE, "a token id is not in 0.." + maxTokenId));
        }
        ids[i] = id.intValue();
      }
      sequences.add(ids);
    }
    return new TokenIds(sequences);
  }

  private static boolean holdsIntegers(JsonNode prompt) {
    for (JsonNode id : prompt) {
      if (!id.isIntegralNumber()) {
        return false;
      }
    }
    return true;
  }

  private static Refused malformed() {
    return new Refused(
        new Inexact(
            Reason.INVALID_REQUEST,
            "prompt must be a text, token ids, or a list of one of the two"));
  }
}
