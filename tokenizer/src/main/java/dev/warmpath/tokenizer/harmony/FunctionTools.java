package dev.warmpath.tokenizer.harmony;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.body.Fields;
import dev.warmpath.tokenizer.body.InexactPromptException;
import dev.warmpath.tokenizer.encode.TextEncoder;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

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

  /**
   * A JSON schema as the type in TypeScript that Harmony shows the model.
   *
   * <p>Confined to its thread.
   */
  private static final class TypeScript {
    private static final String UNION = " | ";
    private static final String NULL = "null";

    private final String indent;
    private final StringBuilder out = new StringBuilder();

    private TypeScript(String indent) {
      this.indent = indent;
    }

    /** The type; lines of it begin with {@code indent}. */
    static String of(JsonNode schema, String indent) {
      if (schema.path("oneOf").isArray()) {
        return new TypeScript(indent).union(schema.path("oneOf"));
      }
      JsonNode type = schema.path("type");
      List<String> names = names(type);
      if (!names.isEmpty()) {
        return String.join(UNION, names);
      }
      return switch (type.isTextual() ? type.textValue() : "") {
        case "object" -> new TypeScript(indent).object(schema);
        case "string" -> string(schema.path("enum"));
        case "number", "integer" -> "number";
        case "boolean" -> "boolean";
        case "array" -> schema.has("items") ? of(schema.get("items"), indent) + "[]" : "Array<any>";
        default -> "any";
      };
    }

    private static List<String> names(JsonNode types) {
      List<String> names = new ArrayList<>();
      if (types.isArray()) {
        types.forEach(type -> {
          if (type.isTextual()) {
            names.add(type.textValue().equals("integer") ? "number" : type.textValue());
          }
        });
      }
      return names;
    }

    private static String string(JsonNode values) {
      List<String> quoted = new ArrayList<>();
      if (values.isArray()) {
        values.forEach(value -> {
          if (value.isTextual()) {
            quoted.add(quoted(value));
          }
        });
      }
      return quoted.isEmpty() ? "string" : String.join(UNION, quoted);
    }

    private static String quoted(JsonNode text) {
      return '"' + text.textValue() + '"';
    }

    private String union(JsonNode variants) {
      for (JsonNode variant : variants) {
        out.append('\n').append(indent).append(UNION).append(nullable(variant, indent + "   "));
        comment(text(variant, "description"), nestedDefault(variant));
      }
      return out.toString();
    }

    private static String nullable(JsonNode schema, String indent) {
      String type = of(schema, indent);
      boolean adds = schema.path("nullable").booleanValue() && !type.contains(NULL);
      return adds ? type + UNION + NULL : type;
    }

    /** What stands behind a variant. */
    private void comment(@Nullable String description, @Nullable String defaultText) {
      List<String> words = new ArrayList<>();
      if (description != null) {
        words.add(description);
      }
      if (defaultText != null) {
        words.add("default: " + defaultText);
      }
      if (!words.isEmpty()) {
        out.append(" // ").append(String.join(" ", words));
      }
    }

    private String object(JsonNode schema) {
      line("// ", text(schema, "description"));
      out.append("{\n");
      Set<String> required = new HashSet<>();
      if (schema.path("required").isArray()) {
        schema
            .path("required")
            .forEach(name -> {
              if (name.isTextual()) {
                required.add(name.textValue());
              }
            });
      }
      for (Map.Entry<String, JsonNode> property : schema.path("properties").properties()) {
        String name = property.getKey();
        property(required.contains(name) ? name : name + "?", property.getValue());
      }
      return out.append(indent).append('}').toString();
    }

    private void property(String name, JsonNode schema) {
      String title = text(schema, "title");
      if (title != null) {
        line("// ", title);
        out.append(indent).append("//\n");
      }
      if (!schema.has("oneOf")) {
        line("// ", text(schema, "description"));
      }
      examples(schema.path("examples"));
      if (schema.path("oneOf").isArray()) {
        variants(name, schema);
        return;
      }
      out.append(indent).append(name).append(": ").append(nullable(schema, indent + "    "));
      out.append(',');
      if (schema.has("default")) {
        out.append(" // default: ").append(defaultOf(schema));
      }
      out.append('\n');
    }

    private void examples(JsonNode examples) {
      if (examples.isArray() && !examples.isEmpty()) {
        out.append(indent).append("// Examples:\n");
        for (JsonNode example : examples) {
          line("// - ", example.isTextual() ? quoted(example) : null);
        }
      }
    }

    private void variants(String name, JsonNode schema) {
      JsonNode variants = schema.path("oneOf");
      String description = text(schema, "description");
      boolean above =
          description != null && !description.equals(text(variants.path(0), "description"));
      if (above) {
        line("// ", description);
      }
      if (schema.has("default")) {
        line("// default: ", defaultOf(schema));
      }
      out.append(indent).append(name).append(":\n");
      for (int i = 0; i < variants.size(); i++) {
        JsonNode variant = variants.get(i);
        out.append(indent).append(UNION).append(nullable(variant, indent + "   "));
        String own = text(variant, "description");
        boolean told = (i == 0 && above) || (own != null && own.equals(description));
        comment(told ? null : own, variant.has("default") ? defaultOf(variant) : null);
        out.append('\n');
      }
      out.append(indent).append(",\n");
    }

    /** In variants that are not a property's own, one beside an enum is written as JSON. */
    private static @Nullable String nestedDefault(JsonNode variant) {
      JsonNode value = variant.get("default");
      if (value == null) {
        return null;
      }
      return value.isTextual() && isEnum(variant) ? SerdeJson.of(value) : defaultOf(variant);
    }

    private static String defaultOf(JsonNode schema) {
      JsonNode value = schema.path("default");
      if (!value.isTextual()) {
        return SerdeJson.of(value);
      }
      return isEnum(schema) ? value.textValue() : quoted(value);
    }

    private static boolean isEnum(JsonNode schema) {
      return schema.path("enum").isArray() && !schema.path("enum").isEmpty();
    }

    private static @Nullable String text(JsonNode schema, String field) {
      return schema.path(field).textValue();
    }

    private void line(String mark, @Nullable String text) {
      if (text != null) {
        out.append(indent).append(mark).append(text).append('\n');
      }
    }
  }
}
