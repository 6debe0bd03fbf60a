package dev.warmpath.tokenizer.apis;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.body.Fields;
import dev.warmpath.tokenizer.body.InexactPromptException;
import java.util.List;

/**
 * The tools that the model is shown: functions, those in namespaces too, and custom tools as
 * functions with one text. Tools of other types are the engine's own.
 */
final class Tools {
  private static final String SEPARATOR = "__";

  private Tools() {}

  static ArrayNode read(JsonNode tools) {
    ArrayNode read = JsonNodeFactory.instance.arrayNode();
    for (JsonNode tool : tools) {
      switch (tool.path("type").asText()) {
        case "function" -> read.add(function(tool, Fields.requiredText(tool, "name")));
        case "namespace" -> addAll(tool, read);
        case "custom" -> read.add(custom(tool));
        default -> {} // not shown
      }
    }
    return read;
  }

  private static void addAll(JsonNode namespace, ArrayNode read) {
    for (JsonNode tool : namespace.path("tools")) {
      if (tool.path("type").asText().equals("function")) {
        read.add(
            function(
                tool,
                Fields.requiredText(namespace, "name")
                    + SEPARATOR
                    + Fields.requiredText(tool, "name")));
      }
    }
  }

  private static ObjectNode function(JsonNode tool, String name) {
    ObjectNode made = JsonNodeFactory.instance.objectNode().put("type", "function");
    ObjectNode function = made.putObject("function").put("name", name);
    for (String field : List.of("description", "parameters", "strict", "defer_loading")) {
      if (tool.hasNonNull(field)) {
        function.set(field, tool.get(field));
      }
    }
    return made;
  }

  private static ObjectNode custom(JsonNode tool) {
    if (tool.path("format").path("type").asText().equals("grammar")) {
      throw InexactPromptException.invalid("a custom tool with a grammar");
    }
    ObjectNode shown = JsonNodeFactory.instance.objectNode();
    shown.set("description", tool.path("description"));
    ObjectNode parameters = shown.putObject("parameters").put("type", "object");
    parameters
        .putObject("properties")
        .putObject("input")
        .put("type", "string")
        .put("description", "The freeform text payload for this tool.");
    parameters.putArray("required").add("input");
    parameters.put("additionalProperties", false);
    return function(shown, Fields.requiredText(tool, "name"));
  }
}
