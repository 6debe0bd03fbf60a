package dev.warmpath.tokenizer.anthropic;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.chat.ChatException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The tools in effect at the end of a conversation, which system messages may have changed, as the
 * chat request has them.
 *
 * <p>Confined to its thread.
 */
final class ToolChanges {
  private final Map<String, ObjectNode> byName = new LinkedHashMap<>();
  private final Set<String> removed = new HashSet<>();

  private ToolChanges() {}

  /** The chat request's tools; missing if none are given. */
  static JsonNode applied(JsonNode tools, JsonNode messages) {
    List<ObjectNode> declared = new ArrayList<>();
    if (!tools.isArray() && !Fields.isAbsent(tools)) {
      throw ChatException.invalid("tools is not a list");
    }
    for (JsonNode tool : tools) {
      declared.add(tool(tool));
    }
    List<JsonNode> changes = changes(messages);
    if (!changes.isEmpty()) {
      return new ToolChanges().apply(declared, changes);
    }
    return Fields.isAbsent(tools)
        ? MissingNode.getInstance()
        : JsonNodeFactory.instance.arrayNode().addAll(declared);
  }

  private static List<JsonNode> changes(JsonNode messages) {
    List<JsonNode> changes = new ArrayList<>();
    for (JsonNode message : messages) {
      for (JsonNode block : message.path("content")) {
        if (block.path("type").asText().matches("tool_addition|tool_removal")) {
          changes.add(block);
        }
      }
    }
    return changes;
  }

  private ArrayNode apply(List<ObjectNode> declared, List<JsonNode> changes) {
    declared.forEach(tool -> byName.put(name(tool), tool));
    for (JsonNode change : changes) {
      boolean adds = change.path("type").asText().equals("tool_addition");
      change(change.path("tool"), adds);
    }
    ArrayNode tools = JsonNodeFactory.instance.arrayNode();
    byName.forEach((name, tool) -> {
      if (!removed.contains(name)) {
        tools.add(tool);
      }
    });
    return tools;
  }

  private void change(JsonNode subject, boolean adds) {
    String type = subject.path("type").asText();
    if (adds && type.equals("tool_definition")) {
      ObjectNode tool = tool(subject.path("definition"));
      byName.put(name(tool), tool);
      removed.remove(name(tool));
      return;
    }
    String name = subject.path("name").asText();
    ObjectNode known = byName.get(name);
    if (!type.equals("tool_reference") || known == null) {
      throw ChatException.invalid("a change of a tool that is not declared");
    }
    if (adds) {
      ObjectNode shown = known.deepCopy();
      ((ObjectNode) shown.get("function")).remove("defer_loading");
      byName.put(name, shown);
      removed.remove(name);
    } else {
      removed.add(name);
    }
  }

  private static String name(ObjectNode tool) {
    return tool.path("function").path("name").asText();
  }

  private static ObjectNode tool(JsonNode tool) {
    JsonNode schema = tool.path("input_schema");
    if (!tool.path("name").isTextual() || !schema.isObject()) {
      throw ChatException.invalid("a tool without name or input_schema");
    }
    ObjectNode made = JsonNodeFactory.instance.objectNode().put("type", "function");
    ObjectNode function = made.putObject("function");
    function.set("name", tool.get("name"));
    function.put("description", Fields.text(tool, "description"));
    ObjectNode parameters = schema.deepCopy();
    if (!parameters.has("type")) {
      parameters.put("type", "object");
    }
    function.set("parameters", parameters);
    for (String flag : List.of("strict", "defer_loading")) {
      if (!Fields.isAbsent(tool.path(flag))) {
        function.set(flag, tool.get(flag));
      }
    }
    return made;
  }
}
