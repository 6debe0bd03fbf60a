package dev.warmpath.tokenizer.harmony;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.tokenizer.body.InexactPromptException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads the content of messages: a text, or parts of which only texts are shown. */
final class ContentTexts {

  private ContentTexts() {}

  /** The texts as they are encoded, one for each part; a part without text is an empty one. */
  static List<String> apart(JsonNode content) {
    if (content.isTextual()) {
      return List.of(content.textValue());
    }
    List<String> texts = new ArrayList<>(content.size());
    for (JsonNode part : parts(content)) {
      JsonNode text = part.path("text");
      texts.add(text.isMissingNode() ? "" : text(text));
    }
    return texts;
  }

  /** Refuses parts with a text that is none. */
  static void check(JsonNode content) {
    apart(content);
  }

  /** All texts as one; null if there is none. */
  static @Nullable String joined(JsonNode content) {
    if (content.isTextual()) {
      return content.textValue();
    }
    StringBuilder joined = new StringBuilder();
    boolean any = false;
    for (JsonNode part : parts(content)) {
      if (part.hasNonNull("text")) {
        joined.append(text(part.get("text")));
        any = true;
      }
    }
    return any ? joined.toString() : null;
  }

  private static JsonNode parts(JsonNode content) {
    boolean valid = content.isArray() || content.isMissingNode();
    for (JsonNode part : content) {
      valid &= part.isObject();
    }
    if (!valid) {
      throw InexactPromptException.invalid("content is neither text nor a list of parts");
    }
    return content;
  }

  private static String text(JsonNode text) {
    if (!text.isTextual()) {
      throw InexactPromptException.invalid("a content part whose text is none");
    }
    return text.textValue();
  }
}
