package dev.warmpath.tokenizer.apis;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.tokenizer.body.Fields;
import dev.warmpath.tokenizer.body.InexactPromptException;

/** What the model said in one item: of several parts the engine takes the first. */
final class AssistantText {

  private AssistantText() {}

  static String content(JsonNode item) {
    JsonNode content = item.path("content");
    if (content.isTextual()) {
      return content.textValue();
    }
    String type = content.path(0).path("type").asText();
    boolean output = item.path("type").isTextual() && type.equals("output_text");
    boolean input = type.equals("input_text");
    for (JsonNode part : content) {
      String other = part.path("type").asText();
      output &= other.equals("output_text") || other.equals("refusal");
      input &= other.equals("input_text");
    }
    if (!output && !input) {
      throw InexactPromptException.invalid("content of the assistant that is not read here");
    }
    return first(content);
  }

  static String reasoning(JsonNode item) {
    JsonNode content = item.path("content");
    JsonNode summary = item.path("summary");
    if (!item.path("encrypted_content").asText("").isEmpty()
        && item.hasNonNull("encrypted_content")) {
      throw InexactPromptException.invalid("encrypted reasoning");
    }
    if (!summary.isArray()) {
      throw InexactPromptException.invalid("reasoning without summary");
    }
    if (!content.isEmpty()) {
      return first(content);
    }
    return summary.isEmpty() ? "" : first(summary);
  }

  private static String first(JsonNode parts) {
    return Fields.requiredText(parts.path(0), "text");
  }
}
