package dev.warmpath.tokenizer.apis;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.warmpath.tokenizer.body.Fields;
import java.util.ArrayList;
import java.util.List;

/**
 * What a tool answered: a text, images, and the tools that it refers to.
 *
 * <p>Immutable, if nobody changes the node.
 */
record ToolResult(String text, ArrayNode images, ArrayNode references) {

  static ToolResult read(JsonNode content) {
    ArrayNode images = JsonNodeFactory.instance.arrayNode();
    ArrayNode references = JsonNodeFactory.instance.arrayNode();
    if (!content.isArray()) {
      return new ToolResult(content.asText(""), images, references);
    }
    List<String> texts = new ArrayList<>();
    for (JsonNode item : content) {
      switch (item.path("type").asText()) {
        case "text" -> texts.add(item.has("text") ? Fields.requiredText(item, "text") : "");
        case "image" -> ContentBlocks.addImage(item.path("source"), images);
        case "tool_reference" -> addReference(item, references);
        default -> {} // passed over by the engine too
      }
    }
    return new ToolResult(String.join("\n", texts), images, references);
  }

  private static void addReference(JsonNode item, ArrayNode references) {
    String name = Fields.textOrEmpty(item, "tool_name");
    String named = name.isEmpty() ? Fields.textOrEmpty(item, "name") : name;
    if (!named.isEmpty()) {
      references.addObject().put("type", "tool_reference").put("name", named);
    }
  }

  void addTo(ArrayNode messages, String toolUseId) {
    messages.addObject().put("role", "tool").put("tool_call_id", toolUseId).put("content", text);
    if (!images.isEmpty()) {
      messages.addObject().put("role", "user").set("content", images);
    }
    if (!references.isEmpty()) {
      messages
          .addObject()
          .put("role", "tool")
          .put("tool_call_id", toolUseId)
          .set("content", references);
    }
  }
}
