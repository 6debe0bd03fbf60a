package dev.warmpath.tokenizer.sglang;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.body.Fields;
import dev.warmpath.tokenizer.body.InexactPromptException;
import dev.warmpath.tokenizer.chat.JsonValues;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads a request's tools as SGLang hands them to the template: functions keep the client's order
 * of keys.
 */
final class SglangTools {
  private static final List<String> ALWAYS = List.of("description", "name", "parameters");
  private static final List<String> UNLESS_NULL = List.of("strict", "defer_loading");
  private static final Set<String> TYPES =
      Set.of("array", "boolean", "integer", "null", "number", "object", "string");

  private SglangTools() {}

  /** The tools, or null for none. */
  static @Nullable List<Object> read(ObjectNode body) {
    JsonNode tools = Fields.listOrAbsent(body, "tools");
    List<Object> read = new ArrayList<>(tools.size());
    for (JsonNode tool : tools) {
      read.add(tool(tool));
    }
    return chosen(read, body.path("tool_choice"));
  }

  private static @Nullable List<Object> chosen(List<Object> tools, JsonNode choice) {
    String word = Fields.isAbsent(choice) ? "auto" : choice.textValue();
    if (word != null) {
      boolean required = word.equals("required");
      if (!required && !word.equals("auto") && !word.equals("none")) {
        throw InexactPromptException.invalid("tool_choice is not known");
      }
      if (required && tools.isEmpty()) {
        throw InexactPromptException.invalid("tool_choice without tools");
      }
      return tools.isEmpty() || word.equals("none") ? null : tools;
    }
    String name = choice.path("function").path("name").textValue();
    List<Object> named = tools.stream().filter(tool -> nameOf(tool).equals(name)).toList();
    if (named.isEmpty()) {
      throw InexactPromptException.invalid("tool_choice names no tool");
    }
    return named;
  }

  private static String nameOf(Object tool) {
    Map<?, ?> function = (Map<?, ?>) ((Map<?, ?>) tool).get("function");
    return function == null ? "" : String.valueOf(function.get("name"));
  }

  private static Map<String, @Nullable Object> tool(JsonNode tool) {
    JsonNode type = tool.path("type");
    JsonNode defers = Fields.flagOrAbsent(tool, "defer_loading");
    Fields.require(type.isTextual() || type.isMissingNode(), "type", "text");
    Map<String, @Nullable Object> read = new LinkedHashMap<>();
    read.put("type", type.isTextual() ? type.textValue() : "function");
    read.put("function", function(tool.path("function"), defers));
    read.put("defer_loading", Fields.isAbsent(defers) ? null : defers.booleanValue());
    return read;
  }

  private static Map<String, @Nullable Object> function(JsonNode function, JsonNode toolDefers) {
    checkTypes(function);
    Map<String, @Nullable Object> values = new LinkedHashMap<>();
    for (String field : ALWAYS) {
      values.put(
          field, Fields.isAbsent(function.path(field)) ? null : JsonValues.of(function.get(field)));
    }
    for (String field : UNLESS_NULL) {
      boolean inherits = field.equals("defer_loading") && !function.hasNonNull(field);
      JsonNode value = inherits ? toolDefers : function.path(field);
      if (!Fields.isAbsent(value)) {
        values.put(field, value.booleanValue());
      }
    }
    Map<String, @Nullable Object> read = new LinkedHashMap<>();
    function
        .fieldNames()
        .forEachRemaining(key -> {
          if (values.containsKey(key)) {
            read.put(key, values.get(key));
          }
        });
    values.forEach(read::putIfAbsent);
    return read;
  }

  private static void checkTypes(JsonNode function) {
    JsonNode description = function.path("description");
    JsonNode parameters = function.path("parameters");
    boolean valid =
        function.path("name").isTextual()
            && Fields.isTextOrAbsent(description)
            && (parameters.isObject() || Fields.isAbsent(parameters));
    UNLESS_NULL.forEach(field -> Fields.flagOrAbsent(function, field));
    if (!valid || !hasPlainTypes(parameters)) {
      throw InexactPromptException.invalid("a tool's function with a field amiss");
    }
  }

  /** The engine rewrites the types of other schema languages; what comes out is not known here. */
  private static boolean hasPlainTypes(JsonNode schema) {
    boolean plain = true;
    for (Map.Entry<String, JsonNode> entry : schema.properties()) {
      JsonNode value = entry.getValue();
      boolean named = entry.getKey().equals("type") && value.isTextual();
      plain &= named ? TYPES.contains(value.textValue()) : hasPlainTypes(value);
      plain &= !entry.getKey().equals("type") || !value.isArray() || isPlainList(value);
    }
    for (JsonNode item : schema.isArray() ? schema : List.<JsonNode>of()) {
      plain &= hasPlainTypes(item);
    }
    return plain;
  }

  private static boolean isPlainList(JsonNode types) {
    Set<String> seen = new HashSet<>();
    for (JsonNode type : types) {
      if (!TYPES.contains(type.asText()) || !seen.add(type.asText())) {
        return false;
      }
    }
    return true;
  }
}
