package dev.warmpath.tokenizer.anthropic;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.tokenizer.chat.ChatException;
import org.jspecify.annotations.Nullable;

/** Fields of blocks and other objects, read with their types checked. Immutable. */
final class Fields {

  private Fields() {}

  static boolean isAbsent(JsonNode node) {
    return node.isNull() || node.isMissingNode();
  }

  /** The text of a field, or null. */
  static @Nullable String text(JsonNode owner, String field) {
    JsonNode value = owner.path(field);
    if (!value.isTextual() && !isAbsent(value)) {
      throw ChatException.invalid(field + " is not text");
    }
    return value.textValue();
  }

  /** The same, with nothing for no text. */
  static String textOrEmpty(JsonNode owner, String field) {
    String text = text(owner, field);
    return text == null ? "" : text;
  }

  static JsonNode objectOrAbsent(JsonNode owner, String field) {
    JsonNode value = owner.path(field);
    if (!value.isObject() && !isAbsent(value)) {
      throw ChatException.invalid(field + " is not an object");
    }
    return value;
  }
}
