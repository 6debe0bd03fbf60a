package dev.warmpath.tokenizer.chat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads a request's tools as the engine hands them to the template. Immutable. */
final class ToolReader {

  private ToolReader() {}

  /** The tools, or null for none. */
  static @Nullable List<Object> read(
      ObjectNode body, boolean excludesWhenNone, boolean mayBeEmpty) {
    JsonNode tools = body.path("tools");
    JsonNode choice = body.path("tool_choice");
    boolean absent = tools.isMissingNode() || tools.isNull();
    boolean none = "none".equals(choice.textValue());
    if (absent) {
      if (!none && !choice.isMissingNode() && !choice.isNull()) {
        throw ChatException.invalid("tool_choice without tools");
      }
      return null;
    }
    if (!tools.isArray() || (tools.isEmpty() && !mayBeEmpty)) {
      throw ChatException.invalid("tools is not a list with tools");
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
      throw ChatException.invalid("a tool that is no function");
    }
    Map<String, @Nullable Object> read = new LinkedHashMap<>();
    read.put("type", "function");
    JsonNode defer = flag(tool, "defer_loading");
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
            && (description.isTextual() || isAbsent(description))
            && (parameters.isObject() || isAbsent(parameters));
    if (!valid) {
      throw ChatException.invalid("a tool's function with a name, description or parameters amiss");
    }
    Map<String, @Nullable Object> read = new LinkedHashMap<>();
    read.put("name", name.textValue());
    read.put("description", description.textValue());
    read.put("parameters", parameters.isObject() ? JsonValues.map(parameters) : null);
    JsonNode strict = flag(function, "strict");
    if (strict.isBoolean()) {
      read.put("strict", strict.booleanValue());
    }
    JsonNode defers = flag(function, "defer_loading");
    JsonNode effective = defers.isBoolean() ? defers : toolDefers;
    if (effective.isBoolean()) {
      read.put("defer_loading", effective.booleanValue());
    }
    return read;
  }

  private static boolean isAbsent(JsonNode node) {
    return node.isNull() || node.isMissingNode();
  }

  private static JsonNode flag(JsonNode owner, String field) {
    JsonNode value = owner.path(field);
    if (!value.isBoolean() && !isAbsent(value)) {
      throw ChatException.invalid(field + " of a tool is not true or false");
    }
    return value;
  }
}
