package dev.warmpath.tokenizer.apis;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.body.Fields;
import dev.warmpath.tokenizer.body.InexactPromptException;

/**
 * Makes the messages of a chat request of a Messages request.
 *
 * <p>Confined to its thread.
 */
final class Conversation {
  private final boolean mergesSystem;
  private final ArrayNode chat = JsonNodeFactory.instance.arrayNode();

  /** With {@code mergesSystem} what later system messages say joins the first. */
  Conversation(boolean mergesSystem) {
    this.mergesSystem = mergesSystem;
  }

  ArrayNode read(ObjectNode body) {
    JsonNode messages = body.path("messages");
    StringBuilder system = new StringBuilder(system(body.path("system")));
    for (JsonNode message : messages) {
      check(message);
      if (mergesSystem && isSystem(message)) {
        system.append(SystemText.ofMessage(message.path("content")));
      }
    }
    addSystem(system.toString());
    for (JsonNode message : messages) {
      add(message);
    }
    return chat;
  }

  private static String system(JsonNode system) {
    if (!system.isTextual() && !system.isArray() && !Fields.isAbsent(system)) {
      throw InexactPromptException.invalid("system is neither text nor a list");
    }
    if (system.isArray()) {
      system.forEach(ContentBlocks::type);
    }
    return SystemText.ofField(system);
  }

  private static void check(JsonNode message) {
    String role = message.path("role").asText();
    boolean known = role.equals("user") || role.equals("assistant") || role.equals("system");
    JsonNode content = message.path("content");
    if (!known || !(content.isTextual() || content.isArray())) {
      throw InexactPromptException.invalid("a message with an unknown role or content");
    }
  }

  private static boolean isSystem(JsonNode message) {
    return message.path("role").asText().equals("system");
  }

  private void addSystem(String text) {
    if (!text.isEmpty()) {
      chat.addObject().put("role", "system").put("content", text);
    }
  }

  private void add(JsonNode message) {
    JsonNode content = message.path("content");
    if (isSystem(message)) {
      if (!mergesSystem) {
        addSystem(SystemText.ofMessage(content));
      }
      return;
    }
    String role = message.path("role").asText();
    ObjectNode made = JsonNodeFactory.instance.objectNode().put("role", role);
    if (content.isTextual()) {
      made.set("content", content);
    } else {
      new ContentBlocks(role, chat).read(content, made);
    }
    if (!role.equals("user") || made.has("content")) {
      chat.add(made);
    }
  }

  /** The text of what is given to the system. */
  private static final class SystemText {
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
}
