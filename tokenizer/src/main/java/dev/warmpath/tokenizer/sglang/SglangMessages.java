package dev.warmpath.tokenizer.sglang;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.body.Fields;
import dev.warmpath.tokenizer.body.InexactPromptException;
import dev.warmpath.tokenizer.chat.JsonValues;
import dev.warmpath.tokenizer.image.ImageParts;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads messages as SGLang does: each becomes a new dict of the fields that it declares, in the
 * declared order, without those that are null.
 */
final class SglangMessages {
  private static final Set<String> ROLES =
      Set.of("system", "assistant", "tool", "function", "developer", "latest_reminder", "root");
  private static final List<String> TEXTS =
      List.of("tool_call_id", "name", "phase", "reasoning_content");

  /** Fields that add tools or change how the chat ends. */
  private static final List<String> NOT_READ = List.of("tools", "prefix");

  private final boolean asParts;
  private final ImageParts images;

  SglangMessages(boolean asParts, ImageParts images) {
    this.asParts = asParts;
    this.images = images;
  }

  List<Map<String, @Nullable Object>> read(ObjectNode body) {
    JsonNode messages = Fields.requiredList(body, "messages");
    List<Map<String, @Nullable Object>> read = new ArrayList<>(messages.size());
    for (JsonNode message : messages) {
      read.add(message(message));
    }
    return read;
  }

  private Map<String, @Nullable Object> message(JsonNode message) {
    String role = message.path("role").asText();
    boolean user = role.equals("user");
    String known = user ? role : role.toLowerCase(Locale.ROOT);
    if (!user && !ROLES.contains(known)) {
      throw InexactPromptException.invalid("a message with an unknown role");
    }
    Map<String, @Nullable Object> read = new LinkedHashMap<>();
    read.put("role", known);
    putContent(message.path("content"), known, read);
    if (!user) {
      putRest(message, read);
    }
    if (asParts && message.path("content").isArray()) {
      read.put("content", read.remove("content")); // rebuilt parts go last
    }
    return read;
  }

  private void putContent(JsonNode content, String role, Map<String, @Nullable Object> read) {
    if (content.isTextual()) {
      read.put("content", content.textValue());
    } else if (content.isArray()) {
      List<Object> parts = parts(content, role);
      boolean joined = !asParts || role.equals("tool");
      read.put("content", joined ? joined(parts) : parts);
    } else if (!role.equals("user") && Fields.isAbsent(content)) {
      read.put("content", "");
    } else {
      throw InexactPromptException.invalid("content is neither text nor a list");
    }
  }

  private List<Object> parts(JsonNode content, String role) {
    List<Object> parts = new ArrayList<>(content.size());
    for (JsonNode part : content) {
      String type = part.path("type").asText();
      if (type.equals("image_url") && asParts && role.equals("user")) {
        addImage(part);
        parts.add(Map.of("type", "image"));
      } else if (type.equals("text") && part.path("text").isTextual()) {
        Map<String, Object> read = new LinkedHashMap<>();
        read.put("type", "text");
        read.put("text", part.path("text").textValue());
        parts.add(read);
      } else {
        throw inexact(type);
      }
    }
    return parts;
  }

  /** Options of an image's own may change what the engine makes of it. */
  private void addImage(JsonNode part) {
    JsonNode image = part.path("image_url");
    for (Map.Entry<String, JsonNode> field : image.properties()) {
      boolean isUsual =
          field.getKey().equals("url")
              || field.getValue().isNull()
              || (field.getKey().equals("detail") && "auto".equals(field.getValue().textValue()));
      if (!isUsual) {
        throw new InexactPromptException(FallbackCause.MULTIMODAL, "an image with options");
      }
    }
    if (part.hasNonNull("modalities")
        || part.hasNonNull("max_dynamic_patch")
        || part.hasNonNull("min_dynamic_patch")) {
      throw new InexactPromptException(FallbackCause.MULTIMODAL, "an image with options");
    }
    images.add(image.path("url"), null);
  }

  private static InexactPromptException inexact(String type) {
    boolean media = type.endsWith("_url") || type.equals("input_audio");
    return media
        ? new InexactPromptException(FallbackCause.MULTIMODAL, "a media part")
        : InexactPromptException.invalid("a content part that is not text");
  }

  private static String joined(List<Object> parts) {
    List<String> texts = new ArrayList<>(parts.size());
    for (Object part : parts) {
      texts.add(String.valueOf(((Map<?, ?>) part).get("text")));
    }
    return String.join(" ", texts);
  }

  private static void putRest(JsonNode message, Map<String, @Nullable Object> read) {
    for (String field : TEXTS) {
      String value = Fields.text(message, field);
      if (value != null) {
        read.put(field, value);
      }
    }
    for (String field : NOT_READ) {
      if (message.hasNonNull(field)) {
        throw InexactPromptException.invalid(field + " of a message is not read here");
      }
    }
    JsonNode calls = Fields.listOrAbsent(message, "tool_calls");
    if (calls.isArray()) {
      read.put("tool_calls", toolCalls(calls, "assistant".equals(read.get("role"))));
    }
  }

  private static List<Object> toolCalls(JsonNode calls, boolean parsed) {
    List<Object> read = new ArrayList<>(calls.size());
    for (JsonNode call : calls) {
      JsonNode index = call.path("index");
      JsonNode type = call.path("type");
      boolean valid =
          call.path("function").isObject()
              && Fields.isTextOrAbsent(call.path("id"))
              && (Fields.isAbsent(index) || index.isInt())
              && (type.isMissingNode() || "function".equals(type.textValue()));
      if (!valid) {
        throw InexactPromptException.invalid(
            "a tool call with an id, index, type or function amiss");
      }
      Map<String, @Nullable Object> one = new LinkedHashMap<>();
      one.put("id", call.path("id").textValue());
      one.put("index", Fields.isAbsent(index) ? null : index.longValue());
      one.put("type", "function");
      one.put("function", function(call.path("function"), parsed));
      read.add(one);
    }
    return read;
  }

  private static Map<String, @Nullable Object> function(JsonNode function, boolean parsed) {
    JsonNode arguments = function.path("arguments");
    boolean valid =
        Fields.isTextOrAbsent(function.path("name"))
            && (Fields.isTextOrAbsent(arguments) || arguments.isObject());
    if (!valid) {
      throw InexactPromptException.invalid("a tool call with a name or arguments amiss");
    }
    Map<String, @Nullable Object> read = new LinkedHashMap<>();
    read.put("name", function.path("name").textValue());
    boolean parse = parsed && arguments.isTextual();
    read.put(
        "arguments",
        parse
            ? JsonValues.strictObject(arguments.textValue())
            : Fields.isAbsent(arguments) ? null : JsonValues.of(arguments));
    return read;
  }
}
