package dev.warmpath.tokenizer.chat;

import dev.warmpath.tokenizer.template.ChatTemplate;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What becomes of developer messages when the template does not know the role: they become system
 * messages, and if one of those does not stand first, all become one that does.
 */
final class DeveloperRole {

  private DeveloperRole() {}

  static List<Map<String, @Nullable Object>> apply(
      List<Map<String, @Nullable Object>> messages, ChatTemplate template) {
    boolean known = template.mentions("\"developer\"") || template.mentions("'developer'");
    if (known || messages.stream().noneMatch(m -> "developer".equals(m.get("role")))) {
      return messages;
    }
    for (Map<String, @Nullable Object> message : messages) {
      if ("developer".equals(message.get("role"))) {
        message.put("role", "system");
        message.remove("tools");
      }
    }
    return merged(messages);
  }

  private static List<Map<String, @Nullable Object>> merged(
      List<Map<String, @Nullable Object>> messages) {
    List<String> contents = new ArrayList<>();
    List<Map<String, @Nullable Object>> result = new ArrayList<>();
    boolean scattered = false;
    Map<String, @Nullable Object> system = new LinkedHashMap<>();
    result.add(system);
    for (int i = 0; i < messages.size(); i++) {
      Map<String, @Nullable Object> message = messages.get(i);
      if ("system".equals(message.get("role"))) {
        scattered |= i > 0;
        String content = text(message.get("content"));
        if (!content.isEmpty()) {
          contents.add(content);
        }
      } else {
        result.add(message);
      }
    }
    system.put("role", "system");
    system.put("content", String.join("\n\n", contents));
    return scattered ? result : messages;
  }

  private static String text(@Nullable Object content) {
    if (!(content instanceof List<?> parts)) {
      return String.valueOf(content);
    }
    List<String> texts = new ArrayList<>();
    for (Object part : parts) {
      if (part instanceof Map<?, ?> map && map.get("text") instanceof String text) {
        texts.add(text);
      }
    }
    return String.join("\n", texts);
  }
}
