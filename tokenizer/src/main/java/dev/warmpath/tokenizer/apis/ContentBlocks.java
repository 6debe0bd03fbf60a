package dev.warmpath.tokenizer.apis;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.body.Fields;
import dev.warmpath.tokenizer.body.InexactPromptException;
import dev.warmpath.tokenizer.chat.JsonValues;
import dev.warmpath.tokenizer.chat.TemplateError;
import dev.warmpath.tokenizer.template.syntax.Budget;
import dev.warmpath.tokenizer.template.syntax.TemplateException;
import dev.warmpath.tokenizer.template.syntax.TemplateLimits;
import dev.warmpath.tokenizer.template.value.JsonText;
import dev.warmpath.tokenizer.template.value.Text;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Takes the content blocks of one message apart: texts become parts, thinking becomes reasoning,
 * uses of tools become calls, and their results become messages of their own, which stand before
 * it.
 *
 * <p>Confined to its thread.
 */
final class ContentBlocks {
  private static final Set<String> TYPES =
      Set.of(
          "text",
          "image",
          "tool_use",
          "tool_result",
          "tool_reference",
          "thinking",
          "redacted_thinking");
  private static final List<String> TEXTS =
      List.of("text", "id", "tool_use_id", "name", "tool_name", "thinking", "signature", "data");

  private static final JsonText.Form ASCII = new JsonText.Form(null, ", ", ": ", true, false);

  private final boolean user;
  private final ArrayNode messages;
  private final ArrayNode parts = JsonNodeFactory.instance.arrayNode();
  private final ArrayNode calls = JsonNodeFactory.instance.arrayNode();
  private @Nullable StringBuilder reasoning;

  /** For a message of this role; results of tools are added to {@code messages}. */
  ContentBlocks(String role, ArrayNode messages) {
    this.user = role.equals("user");
    this.messages = messages;
  }

  /** The type of a block, whose fields have the right types; one that changes tools is refused. */
  static String type(JsonNode block) {
    String type = block.path("type").asText();
    JsonNode content = block.path("content");
    boolean valid =
        block.isObject()
            && TYPES.contains(type)
            && TEXTS.stream().map(block::path).allMatch(n -> n.isTextual() || Fields.isAbsent(n))
            && (content.isTextual() || Fields.isAbsent(content) || isListOfObjects(content));
    if (!valid) {
      throw InexactPromptException.invalid(
          "a content block of an unknown type, or with a field amiss");
    }
    Fields.objectOrAbsent(block, "source");
    Fields.objectOrAbsent(block, "input");
    return type;
  }

  private static boolean isListOfObjects(JsonNode content) {
    boolean objects = content.isArray();
    for (JsonNode item : content) {
      objects &= item.isObject();
    }
    return objects;
  }

  void read(JsonNode blocks, ObjectNode message) {
    for (JsonNode block : blocks) {
      read(block);
    }
    if (reasoning != null) {
      message.put("reasoning", reasoning.toString());
    }
    if (!calls.isEmpty()) {
      message.set("tool_calls", calls);
    }
    if (parts.size() == 1 && parts.get(0).has("text")) {
      message.set("content", parts.get(0).get("text"));
    } else if (!parts.isEmpty()) {
      message.set("content", parts);
    }
  }

  private void read(JsonNode block) {
    switch (type(block)) {
      case "text" -> addText(Fields.textOrEmpty(block, "text"));
      case "image" -> {
        if (!block.path("source").isEmpty()) {
          addImage(block.path("source"), parts);
        }
      }
      case "thinking" -> addThinking(Fields.text(block, "thinking"));
      case "tool_use" -> calls.add(call(block));
      case "tool_result" -> addResult(block);
      default -> {} // what is redacted or only refers to tools is not shown
    }
  }

  private void addText(String text) {
    if (!text.isEmpty()) {
      parts.addObject().put("type", "text").put("text", text);
    }
  }

  /** Adds the image of this source as a part of a chat. */
  static void addImage(JsonNode source, ArrayNode parts) {
    JsonNode data = source.path("data");
    if (!source.path("type").asText().equals("base64") || !data.isTextual()) {
      throw new InexactPromptException(FallbackCause.MULTIMODAL, "an image that is elsewhere");
    }
    String type = source.path("media_type").asText("image/jpeg");
    parts
        .addObject()
        .put("type", "image_url")
        .putObject("image_url")
        .put("url", "data:" + type + ";base64," + data.textValue());
  }

  private void addThinking(@Nullable String thinking) {
    if (thinking != null) {
      reasoning = (reasoning == null ? new StringBuilder() : reasoning).append(thinking);
    }
  }

  private static ObjectNode call(JsonNode block) {
    String id = Fields.textOrEmpty(block, "id");
    if (id.isEmpty()) {
      throw InexactPromptException.invalid(
          "a tool_use without id, for which the engine takes the time");
    }
    JsonNode input = block.path("input");
    ObjectNode call = JsonNodeFactory.instance.objectNode();
    call.put("id", id).put("type", "function");
    call.putObject("function")
        .put("name", Fields.textOrEmpty(block, "name"))
        .put("arguments", input.isObject() ? pythonJson(input) : "{}");
    return call;
  }

  /** As the engine writes it, for models that are shown the text itself. */
  private static String pythonJson(JsonNode input) {
    try {
      return JsonText.of(new Budget(TemplateLimits.DEFAULT), JsonValues.map(input), ASCII);
    } catch (TemplateException e) {
      throw TemplateError.inexact(e);
    }
  }

  private void addResult(JsonNode block) {
    JsonNode content = block.path("content");
    if (user) {
      ToolResult.read(content).addTo(messages, Fields.textOrEmpty(block, "tool_use_id"));
      return;
    }
    boolean empty = Fields.isAbsent(content) || (content.isArray() && content.isEmpty());
    addText("Tool result: " + (empty ? "" : pythonText(content)));
  }

  private static String pythonText(JsonNode content) {
    Object value = JsonValues.of(content);
    return value == null ? "" : Text.of(new Budget(TemplateLimits.DEFAULT), value);
  }

  /**
   * What a tool answered: a text, images, and the tools that it refers to.
   *
   * <p>Immutable, if nobody changes the node.
   */
  private record ToolResult(String text, ArrayNode images, ArrayNode references) {

    static ToolResult read(JsonNode content) {
      ArrayNode images = JsonNodeFactory.instance.arrayNode();
      ArrayNode references = JsonNodeFactory.instance.arrayNode();
      if (!content.isArray()) {
        return new ToolResult(content.asText(""), images, references);
      }
      List<String> texts = new ArrayList<>();
      for (JsonNode item : content) {
        switch (item.path("type").asText()) {
          case "text" -> texts.add(item.has("text") ? Fields.requiredText(item, "text") : "");
          case "image" -> ContentBlocks.addImage(item.path("source"), images);
          case "tool_reference" -> addReference(item, references);
          default -> {} // passed over by the engine too
        }
      }
      return new ToolResult(String.join("\n", texts), images, references);
    }

    private static void addReference(JsonNode item, ArrayNode references) {
      String name = Fields.textOrEmpty(item, "tool_name");
      String named = name.isEmpty() ? Fields.textOrEmpty(item, "name") : name;
      if (!named.isEmpty()) {
        references.addObject().put("type", "tool_reference").put("name", named);
      }
    }

    void addTo(ArrayNode messages, String toolUseId) {
      messages.addObject().put("role", "tool").put("tool_call_id", toolUseId).put("content", text);
      if (!images.isEmpty()) {
        messages.addObject().put("role", "user").set("content", images);
      }
      if (!references.isEmpty()) {
        messages
            .addObject()
            .put("role", "tool")
            .put("tool_call_id", toolUseId)
            .set("content", references);
      }
    }
  }
}
