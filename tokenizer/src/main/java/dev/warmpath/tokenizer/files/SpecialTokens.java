package dev.warmpath.tokenizer.files;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Reads the special tokens that templates may name from the tokenizer's configuration. */
final class SpecialTokens {

  private static final List<String> NAMES =
      List.of(
          "bos_token",
          "eos_token",
          "unk_token",
          "sep_token",
          "pad_token",
          "cls_token",
          "mask_token");

  private SpecialTokens() {}

  /** The tokens by name; {@code map} fills in what {@code config} does not have. */
  static Map<String, String> named(ObjectNode config, ObjectNode map) {
    Map<String, String> tokens = new LinkedHashMap<>();
    for (String name : NAMES) {
      put(tokens, name, config.has(name) ? config.path(name) : map.path(name));
    }
    JsonNode extra = config.path("extra_special_tokens");
    extra.properties().forEach(entry -> put(tokens, entry.getKey(), entry.getValue()));
    return Map.copyOf(tokens);
  }

  /** All tokens that the configuration names in one way or another. */
  static Set<String> configured(ObjectNode config, Map<String, String> named) {
    Set<String> tokens = new TreeSet<>(named.values());
    addAll(tokens, config.path("added_tokens_decoder"));
    addAll(tokens, config.path("additional_special_tokens"));
    addAll(tokens, config.path("extra_special_tokens"));
    return tokens;
  }

  private static void addAll(Set<String> tokens, JsonNode list) {
    for (JsonNode token : list) {
      String content = content(token);
      if (content != null && !content.isEmpty()) {
        tokens.add(content);
      }
    }
  }

  private static void put(Map<String, String> tokens, String name, JsonNode token) {
    String content = content(token);
    if (content != null) {
      tokens.putIfAbsent(name, content);
    }
  }

  /** A token is written as a string, or as an object with its properties. */
  private static @Nullable String content(JsonNode token) {
    JsonNode content = token.isObject() ? token.path("content") : token;
    return content.isTextual() ? content.textValue() : null;
  }
}
