package dev.warmpath.tokenizer.chat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.body.Fields;
import dev.warmpath.tokenizer.body.InexactPromptException;
import dev.warmpath.tokenizer.image.ImageParts;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads the content of messages as the engine does, into one text or a list of parts. */
final class ContentReader {
  /** Written by coding agents into their system prompts, and different in every request. */
  private static final String BILLING_HEADER = "x-anthropic-billing-header";

  private static final Set<String> MEDIA =
      Set.of(
          "input_image",
          "image_url",
          "image_embeds",
          "audio_embeds",
          "video_embeds",
          "image_pil",
          "audio_url",
          "input_audio",
          "video_url",
          "file");

  /** Fields that some kind of part declares: only others reach the template besides the text. */
  private static final Set<String> DECLARED =
      Set.of(
          "audio_embeds",
          "audio_url",
          "closed",
          "data",
          "file",
          "image_embeds",
          "image_pil",
          "image_url",
          "input_audio",
          "name",
          "prompt_cache_breakpoint",
          "refusal",
          "text",
          "thinking",
          "type",
          "uuid",
          "video_embeds",
          "video_url");

  private final boolean asParts;
  private final ImageParts images;

  ContentReader(boolean asParts, ImageParts images) {
    this.asParts = asParts;
    this.images = images;
  }

  /** The content of a message with this role: a String, or a list of parts. */
  Object read(String role, JsonNode content) {
    List<Map<String, Object>> parts = new ArrayList<>();
    if (content.isTextual()) {
      add(parts, role, text(content.textValue()), true);
    } else if (content.isArray()) {
      for (JsonNode part : content) {
        boolean plain = part.isTextual() || "text".equals(part.path("type").textValue());
        add(parts, role, part(part), plain);
      }
    } else if (!Fields.isAbsent(content)) {
      throw InexactPromptException.invalid("content is neither text nor a list");
    }
    return asParts ? inParts(role, parts) : inOneText(parts);
  }

  private static void add(
      List<Map<String, Object>> parts, String role, Map<String, Object> part, boolean plain) {
    String text = plain && role.equals("system") ? String.valueOf(part.get("text")) : "";
    if (!text.startsWith(BILLING_HEADER)) {
      parts.add(part);
      return;
    }
    int end = text.indexOf('\n');
    if (end >= 0 && end + 1 < text.length()) {
      part.put("text", text.substring(end + 1));
      parts.add(part);
    }
  }

  private static Map<String, Object> text(String text) {
    Map<String, Object> part = new LinkedHashMap<>();
    part.put("type", "text");
    part.put("text", text);
    return part;
  }

  private Map<String, Object> part(JsonNode part) {
    if (part.isTextual()) {
      return text(part.textValue());
    }
    String type = part.path("type").textValue();
    if (!part.isObject() || type == null) {
      throw ofUnknownType(part);
    }
    if (part.hasNonNull("uuid")) {
      return namedImage(part);
    }
    return switch (type) {
      case "text", "input_text", "output_text" -> described(part, "text");
      case "refusal" -> described(part, "refusal");
      case "thinking" -> described(part, "thinking");
      case "tool_reference" -> reference(part);
      case "image_url" -> image(part, part.path("image_url").path("url"), null);
      case "input_image" -> image(part, part.path("image_url"), null);
      default -> throw inexact(type);
    };
  }

  /** The engine takes the client's name, whatever type the part has. */
  private Map<String, Object> namedImage(JsonNode part) {
    if (!part.has("image_url") || !part.path("uuid").isTextual()) {
      throw new InexactPromptException(FallbackCause.MULTIMODAL, "a content part with uuid");
    }
    return image(part, urlOf(part.path("image_url")), part.path("uuid").textValue());
  }

  private static JsonNode urlOf(JsonNode image) {
    return image.isObject() ? image.path("url") : image;
  }

  private Map<String, Object> image(JsonNode part, JsonNode url, @Nullable String uuid) {
    images.add(url, uuid);
    Map<String, Object> image = new LinkedHashMap<>();
    image.put("type", "image");
    putOthers(part, image);
    return image;
  }

  private static InexactPromptException ofUnknownType(JsonNode part) {
    boolean media = MEDIA.stream().anyMatch(part::has);
    return media
        ? new InexactPromptException(FallbackCause.MULTIMODAL, "a media part")
        : InexactPromptException.invalid("a content part without type");
  }

  private static InexactPromptException inexact(String type) {
    if (type.equals("prompt_embeds")) {
      return new InexactPromptException(FallbackCause.PROMPT_EMBEDS, "a prompt_embeds part");
    }
    return MEDIA.contains(type)
        ? new InexactPromptException(FallbackCause.MULTIMODAL, "a part of type " + type)
        : InexactPromptException.invalid("a content part of unknown type");
  }

  private static Map<String, Object> described(JsonNode part, String field) {
    Map<String, Object> described = text(Fields.requiredText(part, field));
    putOthers(part, described);
    return described;
  }

  private static void putOthers(JsonNode part, Map<String, Object> into) {
    for (Map.Entry<String, JsonNode> entry : part.properties()) {
      if (!DECLARED.contains(entry.getKey())) {
        putNullable(into, entry.getKey(), JsonValues.of(entry.getValue()));
      }
    }
  }

  @SuppressWarnings("NullAway") // JSON null is a value here
  private static void putNullable(Map<String, Object> map, String key, @Nullable Object value) {
    map.put(key, value);
  }

  private static Map<String, Object> reference(JsonNode part) {
    Map<String, Object> reference = new LinkedHashMap<>();
    reference.put("type", "tool_reference");
    reference.put("name", Fields.requiredText(part, "name"));
    return reference;
  }

  /** Images come first, whatever stood before them. */
  private String inOneText(List<Map<String, Object>> parts) {
    List<String> places = new ArrayList<>();
    List<String> texts = new ArrayList<>();
    for (Map<String, Object> part : parts) {
      if ("image".equals(part.get("type"))) {
        places.add(images.placeholder());
        continue;
      }
      String text = (String) part.getOrDefault("text", part.getOrDefault("name", ""));
      if (!text.isEmpty()) {
        texts.add(text);
      }
    }
    String text = String.join("\n", texts);
    if (places.isEmpty()) {
      return text;
    }
    if (text.contains(places.get(0))) {
      throw new InexactPromptException(FallbackCause.MULTIMODAL, "a text with an image's place");
    }
    if (!text.isEmpty()) {
      places.add(text);
    }
    return String.join("\n", places);
  }

  /** A tool's answer is joined to one text even here, unless it holds references. */
  private static Object inParts(String role, List<Map<String, Object>> parts) {
    boolean onlyText = parts.stream().allMatch(part -> part.containsKey("text"));
    if (!role.equals("tool") || !onlyText) {
      return parts;
    }
    return String.join("\n", parts.stream().map(part -> (String) part.get("text")).toList());
  }
}
