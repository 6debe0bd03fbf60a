package dev.warmpath.tokenizer.chat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.body.Fields;
import dev.warmpath.tokenizer.body.PromptRefused;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads a request's tools as the engine hands them to the template. */
final class ToolReader {

  private ToolReader() {}

  /** The tools, or null for none. */
  static @Nullable List<Object> read(
      ObjectNode body, boolean excludesWhenNone, boolean mayBeEmpty) {
    JsonNode tools = body.path("tools");
    JsonNode choice = body.path("tool_choice");
    boolean none = "none".equals(choice.textValue());
    if (Fields.isAbsent(tools)) {
      if (!none && !Fields.isAbsent(choice)) {
        throw PromptRefused.invalid("tool_choice without tools");
      }
      return null;
    }
    if (!tools.isArray() || (tools.isEmpty() && !mayBeEmpty)) {
      throw PromptRefused.invalid("tools is not a list with tools");
    }
    List<Object> read = new ArrayList<>(tools.size());
    for (JsonNode tool : tools) {
      read.add(tool(tool));
    }
    return none && excludesWhenNone ? null : read;
  }

  private static Map<String, @Nullable Object> tool(JsonNode tool) {
    JsonNode type = tool.path("type");
    if (!type.isMissingNode() && !"function".equals(type.textValue())) {
      throw PromptRefused.invalid("a tool that is no function");
    }
    Map<String, @Nullable Object> read = new LinkedHashMap<>();
    read.put("type", "function");
    JsonNode defer = Fields.flagOrAbsent(tool, "defer_loading");
    read.put("function", function(tool.path("function"), defer));
    if (defer.isBoolean()) {
      read.put("defer_loading", defer.booleanValue());
    }
    return read;
  }

  private static Map<String, @Nullable Object> function(JsonNode function, JsonNode toolDefers) {
    JsonNode name = function.path("name");
    JsonNode description = function.path("description");
    JsonNode parameters = function.path("parameters");
    boolean valid =
        name.isTextual()
            && Fields.isTextOrAbsent(description)
            && (parameters.isObject() || Fields.isAbsent(parameters));
    if (!valid) {
      throw PromptRefused.invalid("a tool's function with a name, description or parameters amiss");
    }
    Map<String, @Nullable Object> read = new LinkedHashMap<>();
    read.put("name", name.textValue());
    read.put("description", description.textValue());
    read.put("parameters", parameters.isObject() ? JsonValues.map(parameters) : null);
    JsonNode strict = Fields.flagOrAbsent(function, "strict");
    if (strict.isBoolean()) {
      read.put("strict", strict.booleanValue());
    }
    JsonNode defers = Fields.flagOrAbsent(function, "defer_loading");
    JsonNode effective = defers.isBoolean() ? defers : toolDefers;
    if (effective.isBoolean()) {
      read.put("defer_loading", effective.booleanValue());
    }
    return read;
  }
}
