package dev.warmpath.tokenizer.deepseek;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One call of a tool, with its arguments in their order. */
record DeepSeekToolCall(String id, String name, Map<String, @Nullable Object> arguments) {

  /** A call as the engine's parser of requests leaves it. */
  @SuppressWarnings("unchecked")
  static DeepSeekToolCall of(Map<String, @Nullable Object> call) {
    Map<String, @Nullable Object> function =
        (Map<String, @Nullable Object>) required(call, "function");
    return new DeepSeekToolCall(
        id(call, function),
        (String) required(function, "name"),
        (Map<String, @Nullable Object>) required(function, "arguments"));
  }

  private static String id(
      Map<String, @Nullable Object> call, Map<String, @Nullable Object> function) {
    String id = (String) required(call, "id");
    return id.isEmpty() && function.get("id") instanceof String other ? other : id;
  }

  private static Object required(Map<String, @Nullable Object> map, String key) {
    Object value = map.get(key);
    if (value == null) {
      throw new IllegalStateException("key=" + key);
    }
    return value;
  }
}
