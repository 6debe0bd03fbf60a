package dev.warmpath.tokenizer.harmony;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.tokenizer.body.Fields;
import dev.warmpath.tokenizer.body.InexactPromptException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Makes Harmony messages of the items of a Responses request.
 *
 * <p>Confined to its thread.
 */
final class ResponseItems {
  private static final Set<String> PARTS =
      Set.of("input_text", "input_image", "input_file", "output_text", "refusal");

  private final Preamble preamble;
  private final HarmonyConversation conversation;
  private final Map<String, String> namesById = new HashMap<>();

  ResponseItems(Preamble preamble, HarmonyConversation conversation) {
    this.preamble = preamble;
    this.conversation = conversation;
  }

  void add(JsonNode item) {
    String type = item.has("type") ? Fields.requiredText(item, "type") : "message";
    switch (type) {
      case "message" -> addMessage(item);
      case "reasoning" -> addThoughts(item);
      case "function_call" -> addCall(item);
      case "function_call_output" -> addResult(item);
      default -> throw InexactPromptException.invalid("an input item of another type");
    }
  }

  private void addMessage(JsonNode item) {
    String role = Fields.requiredText(item, "role");
    JsonNode content = item.path("content");
    Fields.require(content.isTextual() || content.isArray(), "content", "text or a list");
    content.forEach(part -> checkPart(part, item.has("type")));
    switch (role) {
      case "user" -> conversation.add(HarmonyMessage.of(role, ContentTexts.apart(content)));
      case "assistant" -> conversation.add(HarmonyMessage.answer(ContentTexts.apart(content)));
      case "system", "developer" -> {
        String text = ContentTexts.joined(content);
        if (text != null && !text.isEmpty()) {
          conversation.add(preamble.later(role, text));
        }
      }
      default -> throw InexactPromptException.invalid("a message with an unknown role");
    }
  }

  /** What the model said must be told by the item's type. */
  private static void checkPart(JsonNode part, boolean typed) {
    String type = part.path("type").asText();
    boolean said = type.equals("output_text") || type.equals("refusal");
    if (!PARTS.contains(type) || (said && !typed)) {
      throw InexactPromptException.invalid("a content part of another type");
    }
  }

  private void addThoughts(JsonNode item) {
    Fields.require(item.path("summary").isArray(), "summary", "a list");
    JsonNode content = Fields.listOrAbsent(item, "content");
    List<String> texts = new ArrayList<>();
    content.forEach(part -> texts.add(Fields.requiredText(part, "text")));
    if (!texts.isEmpty()) {
      conversation.add(HarmonyMessage.analysis(String.join("\n", texts)));
    }
  }

  private void addCall(JsonNode item) {
    String name = Fields.requiredText(item, "name");
    namesById.put(Fields.requiredText(item, "call_id"), name);
    conversation.add(HarmonyMessage.call(name, Fields.requiredText(item, "arguments")));
  }

  private void addResult(JsonNode item) {
    String name = namesById.get(Fields.requiredText(item, "call_id"));
    if (name == null) {
      throw InexactPromptException.invalid("an output without its call");
    }
    conversation.add(HarmonyMessage.result(name, Fields.requiredText(item, "output")));
  }
}
