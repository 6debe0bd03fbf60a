package dev.warmpath.tokenizer.chat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.body.Fields;
import dev.warmpath.tokenizer.body.InexactPromptException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads a request's tools as the engine hands them to the template. */
public final class ToolReader {

  private ToolReader() {}

  /** The tools, or null for none. */
  static @Nullable List<Object> read(
      ObjectNode body, boolean excludesWhenNone, boolean mayBeEmpty) {
    JsonNode tools = given(body, excludesWhenNone, mayBeEmpty);
    if (tools.isMissingNode()) {
      return null;
    }
    List<Object> read = new ArrayList<>(tools.size());
    for (JsonNode tool : tools) {
      read.add(tool(tool));
    }
    return read;
  }

  /**
   * The tools as they are given, once they have been checked; missing for none.
   *
   * @throws InexactPromptException if the engine refuses them
   */
  public static JsonNode given(ObjectNode body, boolean excludesWhenNone, boolean mayBeEmpty) {
    JsonNode tools = body.path("tools");
    JsonNode choice = body.path("tool_choice");
    boolean none = "none".equals(choice.textValue());
    if (Fields.isAbsent(tools)) {
      if (!none && !Fields.isAbsent(choice)) {
        throw InexactPromptException.invalid("tool_choice without tools");
      }
      return MissingNode.getInstance();
    }
    if (!tools.isArray() || (tools.isEmpty() && !mayBeEmpty)) {
      throw InexactPromptException.invalid("tools is not a list with tools");
    }
    tools.forEach(ToolReader::check);
    return none && excludesWhenNone ? MissingNode.getInstance() : tools;
  }

  private static void check(JsonNode tool) {
    JsonNode type = tool.path("type");
    if (!type.isMissingNode() && !"function".equals(type.textValue())) {
      throw InexactPromptException.invalid("a tool that is no function");
    }
    Fields.flagOrAbsent(tool, "defer_loading");
    JsonNode function = tool.path("function");
    JsonNode parameters = function.path("parameters");
    boolean valid =
        function.path("name").isTextual()
            && Fields.isTextOrAbsent(function.path("description"))
            && (parameters.isObject() || Fields.isAbsent(parameters));
    if (!valid) {
      throw InexactPromptException.invalid(
          "a tool's function with a name, description or parameters amiss");
    }
    Fields.flagOrAbsent(function, "strict");
    Fields.flagOrAbsent(function, "defer_loading");
  }

  private static Map<String, @Nullable Object> tool(JsonNode tool) {
    Map<String, @Nullable Object> read = new LinkedHashMap<>();
    read.put("type", "function");
    JsonNode defer = tool.path("defer_loading");
    read.put("function", function(tool.path("function"), defer));
    if (defer.isBoolean()) {
      read.put("defer_loading", defer.booleanValue());
    }
    return read;
  }

  private static Map<String, @Nullable Object> function(JsonNode function, JsonNode toolDefers) {
    JsonNode parameters = function.path("parameters");
    Map<String, @Nullable Object> read = new LinkedHashMap<>();
    read.put("name", function.path("name").textValue());
    read.put("description", function.path("description").textValue());
    read.put("parameters", parameters.isObject() ? JsonValues.map(parameters) : null);
    JsonNode strict = function.path("strict");
    if (strict.isBoolean()) {
      read.put("strict", strict.booleanValue());
    }
    JsonNode defers = function.path("defer_loading");
    JsonNode effective = defers.isBoolean() ? defers : toolDefers;
    if (effective.isBoolean()) {
      read.put("defer_loading", effective.booleanValue());
    }
    return read;
  }
}
