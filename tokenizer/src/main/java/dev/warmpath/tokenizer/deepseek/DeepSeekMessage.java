package dev.warmpath.tokenizer.deepseek;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A message as the engine's parser of requests leaves it.
 *
 * <p>Immutable, if nobody changes the map.
 */
record DeepSeekMessage(Map<String, @Nullable Object> fields) {

  /** The messages, for the caller to change. */
  static List<DeepSeekMessage> listOf(List<Map<String, @Nullable Object>> messages) {
    List<DeepSeekMessage> list = new ArrayList<>(messages.size() + 1);
    messages.forEach(fields -> list.add(new DeepSeekMessage(fields)));
    return list;
  }

  static DeepSeekMessage system() {
    return new DeepSeekMessage(Map.of("role", "system", "content", ""));
  }

  static DeepSeekMessage user(String content, @Nullable String task) {
    Map<String, @Nullable Object> fields = new LinkedHashMap<>();
    fields.put("role", "user");
    fields.put("content", content);
    fields.put("task", task);
    return new DeepSeekMessage(fields);
  }

  /** The same with another value. */
  DeepSeekMessage with(String key, @Nullable Object value) {
    Map<String, @Nullable Object> other = new LinkedHashMap<>(fields);
    other.put(key, value);
    return new DeepSeekMessage(other);
  }

  boolean is(String role) {
    return role().equals(role);
  }

  /** Whether a question to the model: of the user, or of a developer. */
  boolean isQuestion() {
    return is("user") || is("developer");
  }

  String role() {
    return textOrEmpty("role");
  }

  /**
   * The content's texts, joined by blank lines.
   *
   * @throws InexactPromptException if a part is no text
   */
  String content() {
    return fields.get("content") instanceof List<?> parts ? joined(parts) : textOrEmpty("content");
  }

  private static String joined(List<?> parts) {
    List<String> texts = new ArrayList<>();
    for (Object part : parts) {
      if (!(part instanceof Map<?, ?> map && map.get("text") instanceof String text)) {
        throw DeepSeekChats.refused("a content part that is no text");
      }
      texts.add(text);
    }
    return String.join("\n\n", texts);
  }

  /** The same with a note in the place of each part that is no text, as in results of tools. */
  String contentWithNotes() {
    if (!(fields.get("content") instanceof List<?> parts)) {
      return textOrEmpty("content");
    }
    List<String> texts = new ArrayList<>();
    for (Object part : parts) {
      Map<?, ?> map = (Map<?, ?>) part;
      boolean text = map.get("text") instanceof String;
      texts.add(text ? (String) map.get("text") : "[Unsupported " + map.get("type") + "]");
    }
    return String.join("\n\n", texts);
  }

  String reasoning() {
    return textOrEmpty("reasoning");
  }

  @Nullable String task() {
    return (String) fields.get("task");
  }

  String toolCallId() {
    return textOrEmpty("tool_call_id");
  }

  List<?> tools() {
    return listOrEmpty("tools");
  }

  int callCount() {
    return listOrEmpty("tool_calls").size();
  }

  @SuppressWarnings("unchecked")
  List<DeepSeekToolCall> calls() {
    List<DeepSeekToolCall> calls = new ArrayList<>();
    for (Object call : listOrEmpty("tool_calls")) {
      calls.add(DeepSeekToolCall.of((Map<String, @Nullable Object>) call));
    }
    return calls;
  }

  private List<?> listOrEmpty(String key) {
    return fields.get(key) instanceof List<?> list ? list : List.of();
  }

  private String textOrEmpty(String key) {
    return fields.get(key) instanceof String text ? text : "";
  }

  /** The index of the last question; -1 if there is none. */
  static int lastQuestion(List<DeepSeekMessage> messages) {
    int last = messages.size() - 1;
    while (last >= 0 && !messages.get(last).isQuestion()) {
      last--;
    }
    return last;
  }

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
}
