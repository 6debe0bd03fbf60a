package dev.warmpath.tokenizer.harmony;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.body.Fields;
import dev.warmpath.tokenizer.body.InexactPromptException;
import dev.warmpath.tokenizer.encode.TextEncoder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Functions that the model may call.
 *
 * <p>Immutable, if nobody changes the nodes.
 *
 * @param functions objects with name, description and parameters
 */
record FunctionTools(List<JsonNode> functions) {
  static final FunctionTools NONE = new FunctionTools(List.of());

  /** The engine's library reads JSON of 128 levels, ten of them around the parameters. */
  private static final int MOST_LEVELS = 118;

  FunctionTools {
    functions.forEach(function -> check(function.path("parameters"), 0));
  }

  private static void check(JsonNode node, int levels) {
    if (node.isContainerNode() && levels == MOST_LEVELS) {
      throw InexactPromptException.invalid("a schema of more than " + MOST_LEVELS + " levels");
    }
    if (node.isTextual()) {
      checkText(node.textValue());
    } else if (node.isFloatingPointNumber() && !Double.isFinite(node.doubleValue())) {
      throw InexactPromptException.invalid("a number that is not finite");
    }
    for (Map.Entry<String, JsonNode> entry : node.properties()) {
      checkText(entry.getKey());
    }
    for (JsonNode child : node) {
      check(child, levels + 1);
    }
  }

  private static void checkText(String text) {
    if (!TextEncoder.isWellFormed(text)) {
      throw new InexactPromptException(
          FallbackCause.MALFORMED_TEXT, "a schema holds half a surrogate pair");
    }
  }

  boolean isEmpty() {
    return functions.isEmpty();
  }

  /** The section of a developer message. */
  String section() {
    List<String> lines = new ArrayList<>();
    lines.add("## functions\n");
    lines.add("namespace functions {\n");
    for (JsonNode function : functions) {
      addDescription(Fields.textOrEmpty(function, "description"), lines);
      lines.add("type " + function.path("name").textValue() + " = " + signature(function) + ";\n");
    }
    lines.add("} // namespace functions");
    return "# Tools\n\n" + String.join("\n", lines);
  }

  /** Lines end at a line feed, with the carriage return before it. */
  private static void addDescription(String description, List<String> lines) {
    int from = 0;
    while (from < description.length()) {
      int feed = description.indexOf('\n', from);
      int end = feed < 0 ? description.length() : feed;
      boolean cut = feed > from && description.charAt(feed - 1) == '\r';
      lines.add("// " + description.substring(from, cut ? end - 1 : end));
      from = end + 1;
    }
  }

  private static String signature(JsonNode function) {
    JsonNode parameters = function.path("parameters");
    return Fields.isAbsent(parameters)
        ? "() => any"
        : "(_: " + TypeScript.of(parameters, "") + ") => any";
  }
}
