package dev.warmpath.tokenizer.harmony;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.tokenizer.body.Fields;
import dev.warmpath.tokenizer.body.InexactPromptException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Makes Harmony messages of the messages of a chat.
 *
 * <p>Confined to its thread.
 */
final class ChatMessages {
  private final Preamble preamble;
  private final HarmonyConversation conversation;
  private final Map<String, String> namesById = new HashMap<>();

  ChatMessages(Preamble preamble, HarmonyConversation conversation) {
    this.preamble = preamble;
    this.conversation = conversation;
  }

  /** Whether a message's text is taken for the instructions when it stands first. */
  static boolean instructs(JsonNode message) {
    String role = message.path("role").asText();
    return role.equals("system") || role.equals("developer");
  }

  /** Adds the messages from this one on. */
  void add(JsonNode messages, int first) {
    for (int i = first; i < messages.size(); i++) {
      for (JsonNode call : calls(messages.get(i))) {
        namesById.put(Fields.requiredText(call, "id"), name(call));
      }
    }
    for (int i = first; i < messages.size(); i++) {
      add(messages.get(i));
    }
  }

  private static JsonNode calls(JsonNode message) {
    JsonNode calls = message.path("tool_calls");
    boolean none = calls.isNull() && message.path("role").asText().equals("assistant");
    Fields.require(calls.isArray() || calls.isMissingNode() || none, "tool_calls", "a list");
    return calls;
  }

  private static String name(JsonNode call) {
    JsonNode function = call.path("function");
    boolean complete =
        "function".equals(call.path("type").textValue())
            && function.path("name").isTextual()
            && function.path("arguments").isTextual();
    if (!complete) {
      throw InexactPromptException.invalid("a tool call without id, type, name or arguments");
    }
    return function.path("name").textValue();
  }

  private void add(JsonNode message) {
    String role = Fields.requiredText(message, "role");
    Fields.text(message, "name");
    switch (role) {
      case "assistant" -> addAssistant(message);
      case "tool" -> addResult(message);
      case "user" -> conversation.add(HarmonyMessage.of(role, shown(message)));
      case "system", "developer" -> {
        ContentTexts.check(message.path("content"));
        String text = ContentTexts.joined(message.path("content"));
        if (text != null) {
          conversation.add(preamble.later(role, text));
        }
      }
      default -> throw InexactPromptException.invalid("a message with an unknown role");
    }
  }

  /** The texts of a message, at least one. */
  private static List<String> shown(JsonNode message) {
    List<String> texts = ContentTexts.apart(message.path("content"));
    return texts.isEmpty() ? List.of("") : texts;
  }

  private void addResult(JsonNode message) {
    String id = Fields.textOrEmpty(message, "tool_call_id");
    String text = ContentTexts.joined(message.path("content"));
    conversation.add(
        HarmonyMessage.result(namesById.getOrDefault(id, ""), text == null ? "" : text));
  }

  private void addAssistant(JsonNode message) {
    JsonNode content = message.path("content");
    boolean none = content.isNull();
    JsonNode calls = calls(message);
    if (calls.isEmpty()) {
      addThoughts(message);
      List<String> texts = none ? List.of("") : shown(message);
      if (!texts.get(0).isEmpty()) {
        conversation.add(HarmonyMessage.answer(texts));
      }
      return;
    }
    String text = none ? null : ContentTexts.joined(content);
    if (text != null && !text.isEmpty()) {
      conversation.add(HarmonyMessage.commentary(text));
    }
    addThoughts(message);
    for (JsonNode call : calls) {
      addCall(name(call), call.path("function").path("arguments").textValue());
    }
  }

  private void addThoughts(JsonNode message) {
    String given = Fields.text(message, "reasoning");
    @Nullable String thoughts = given == null ? Fields.text(message, "reasoning_content") : given;
    if (thoughts != null && !thoughts.isEmpty()) {
      conversation.add(HarmonyMessage.analysis(thoughts));
    }
  }

  private void addCall(String name, String arguments) {
    conversation.add(HarmonyMessage.call(name, arguments));
  }
}
