package dev.warmpath.tokenizer.apis;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.body.Fields;
import dev.warmpath.tokenizer.body.InexactPromptException;
import java.util.List;

/** The tools of a Messages request as the chat request has them. */
final class ToolDefinitions {

  private ToolDefinitions() {}

  /** The chat request's tools; missing if none are given. */
  static JsonNode read(ObjectNode body) {
    JsonNode tools = Fields.listOrAbsent(body, "tools");
    if (Fields.isAbsent(tools)) {
      return MissingNode.getInstance();
    }
    ArrayNode read = JsonNodeFactory.instance.arrayNode();
    tools.forEach(tool -> read.add(tool(tool)));
    return read;
  }

  private static ObjectNode tool(JsonNode tool) {
    JsonNode schema = tool.path("input_schema");
    if (!tool.path("name").isTextual() || !schema.isObject()) {
      throw InexactPromptException.invalid("a tool without name or input_schema");
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
