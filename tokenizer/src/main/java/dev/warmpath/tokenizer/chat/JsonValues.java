package dev.warmpath.tokenizer.chat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.body.InexactPromptException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** JSON as the values that templates see: integers of any size stay integers, 1.0 a float. */
public final class JsonValues {
  private static final JsonMapper STRICT =
      JsonMapper.builder().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).build();
  private static final JsonMapper WITH_NON_NUMBERS =
      STRICT.rebuild().enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS).build();

  private JsonValues() {}

  /** The value of a node. */
  public static @Nullable Object of(JsonNode node) {
    return switch (node.getNodeType()) {
      case STRING -> node.textValue();
      case BOOLEAN -> node.booleanValue();
      case NUMBER -> number(node);
      case ARRAY -> list(node);
      case OBJECT -> map(node);
      case NULL -> null;
      default ->
          throw InexactPromptException.invalid("a " + node.getNodeType() + " in the request");
    };
  }

  private static Object number(JsonNode node) {
    if (!node.isIntegralNumber()) {
      return node.doubleValue();
    }
    return node.canConvertToLong() ? (Object) node.longValue() : node.bigIntegerValue();
  }

  private static List<@Nullable Object> list(JsonNode node) {
    List<@Nullable Object> list = new ArrayList<>(node.size());
    for (JsonNode item : node) {
      list.add(of(item));
    }
    return list;
  }

  /** The entries of an object, in its order. */
  public static Map<String, @Nullable Object> map(JsonNode node) {
    Map<String, @Nullable Object> map = new LinkedHashMap<>();
    for (Map.Entry<String, JsonNode> entry : node.properties()) {
      map.put(entry.getKey(), of(entry.getValue()));
    }
    return map;
  }

  /** The object's entries, these keys first and the others as they come. */
  static Map<String, @Nullable Object> ordered(JsonNode node, String... first) {
    Map<String, @Nullable Object> map = new LinkedHashMap<>();
    for (String key : first) {
      JsonNode value = node.get(key);
      if (value != null) {
        map.put(key, of(value));
      }
    }
    for (Map.Entry<String, JsonNode> entry : node.properties()) {
      if (!map.containsKey(entry.getKey())) {
        map.put(entry.getKey(), of(entry.getValue()));
      }
    }
    return map;
  }

  /**
   * The object that a text holds as JSON; an empty one for anything else. As in Python NaN,
   * Infinity and -Infinity are numbers, but no other spelling of them.
   */
  static Map<String, @Nullable Object> parsedObject(String json) {
    try {
      JsonNode node = STRICT.readTree(json);
      return node instanceof ObjectNode object ? map(object) : new LinkedHashMap<>();
    } catch (StreamConstraintsException e) {
      throw InexactPromptException.invalid(
          "JSON within a string, too deep or with too long a number");
    } catch (JsonProcessingException e) {
      return json.contains("NaN") || json.contains("Infinity")
          ? parsedWithNonNumbers(json)
          : new LinkedHashMap<>();
    }
  }

  /**
   * The object that a text holds as JSON, where the engine refuses anything else. Its parser makes
   * floats of integers beyond 64 bits, so those are refused here too.
   */
  public static Map<String, @Nullable Object> strictObject(String json) {
    try {
      if (STRICT.readTree(json) instanceof ObjectNode object && !holdsBigIntegers(object)) {
        return map(object);
      }
    } catch (JsonProcessingException e) {
      throw InexactPromptException.invalid("a text that is not JSON");
    }
    throw InexactPromptException.invalid(
        "a JSON text that is no object, or with too large numbers");
  }

  private static boolean holdsBigIntegers(JsonNode node) {
    boolean found = node.isBigInteger();
    for (JsonNode child : node) {
      found |= holdsBigIntegers(child);
    }
    return found;
  }

  private static Map<String, @Nullable Object> parsedWithNonNumbers(String json) {
    try {
      JsonNode node = WITH_NON_NUMBERS.readTree(json);
      if (json.contains("INF") || json.contains("+")) {
        throw InexactPromptException.invalid("numbers within a string that are hard to tell");
      }
      return node instanceof ObjectNode object ? map(object) : new LinkedHashMap<>();
    } catch (JsonProcessingException e) {
      return new LinkedHashMap<>();
    }
  }
}
