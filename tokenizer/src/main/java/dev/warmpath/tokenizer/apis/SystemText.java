package dev.warmpath.tokenizer.apis;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.tokenizer.body.Fields;

/** The text of what is given to the system. */
final class SystemText {
  /** Written by coding agents into their system prompts, and different in every request. */
  private static final String BILLING_HEADER = "x-anthropic-billing-header";

  private SystemText() {}

  /** Of the field {@code system}: as it is when it is a text. */
  static String ofField(JsonNode system) {
    return system.isTextual() ? system.textValue() : ofBlocks(system);
  }

  /** Of a message with the role: nothing when it begins with the header. */
  static String ofMessage(JsonNode content) {
    if (!content.isTextual()) {
      return ofBlocks(content);
    }
    return content.textValue().startsWith(BILLING_HEADER) ? "" : content.textValue();
  }

  private static String ofBlocks(JsonNode blocks) {
    StringBuilder joined = new StringBuilder();
    for (JsonNode block : blocks) {
      String text =
          ContentBlocks.type(block).equals("text") ? Fields.textOrEmpty(block, "text") : "";
      if (!text.startsWith(BILLING_HEADER)) {
        joined.append(text);
      }
    }
    return joined.toString();
  }
}
