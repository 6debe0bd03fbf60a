package dev.warmpath.tokenizer.apis;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.body.Fields;
import dev.warmpath.tokenizer.body.InexactPromptException;
import dev.warmpath.tokenizer.chat.ChatTexts;
import dev.warmpath.tokenizer.chat.ModelChats;
import dev.warmpath.tokenizer.image.ImageParts;
import java.util.List;
import java.util.Set;

/**
 * Turns bodies of {@code /v1/responses} into the text that vLLM 0.32 tokenizes for them: each
 * becomes a chat, which is then rendered.
 *
 * <p>Thread-safe.
 */
public final class ResponsesTexts implements ChatTexts {
  private static final List<String> STORED =
      List.of("previous_response_id", "previous_input_messages");

  private final ModelChats chats;

  /** For a model with these chats. */
  public ResponsesTexts(ModelChats chats) {
    this.chats = chats;
  }

  @Override
  public String render(ObjectNode body) {
    return render(body, ImageParts.none());
  }

  @Override
  public String render(ObjectNode body, ImageParts images) {
    return chats.render(chat(body), ModelChats.Origin.BUILT, images);
  }

  private static ObjectNode chat(ObjectNode body) {
    if (STORED.stream().anyMatch(body::hasNonNull)) {
      throw new InexactPromptException(
          FallbackCause.STORED_HISTORY, "the engine's own store has the rest of the messages");
    }
    if (body.hasNonNull("prompt")) {
      throw InexactPromptException.invalid("prompt is not supported by the engine");
    }
    ObjectNode chat = JsonNodeFactory.instance.objectNode();
    chat.set("messages", messages(body));
    boolean continues = continues(body.path("input"));
    chat.put("add_generation_prompt", !continues);
    chat.put("continue_final_message", continues);
    putArguments(body, chat);
    putTools(body, chat);
    return chat;
  }

  private static ArrayNode messages(ObjectNode body) {
    ArrayNode messages = JsonNodeFactory.instance.arrayNode();
    String instructions = Fields.textOrEmpty(body, "instructions");
    if (!instructions.isEmpty()) {
      messages.addObject().put("role", "system").put("content", instructions);
    }
    JsonNode input = body.path("input");
    if (input.isTextual()) {
      messages.addObject().put("role", "user").set("content", input);
      return messages;
    }
    if (!input.isArray() || input.isEmpty()) {
      throw InexactPromptException.invalid("input is neither text nor a list with items");
    }
    return messages.addAll(Items.messages(input));
  }

  /** Whether the last item is unfinished, for the model to go on with it. */
  private static boolean continues(JsonNode input) {
    JsonNode last = input.path(input.size() - 1);
    String type = last.path("type").asText("message");
    String status = last.path("status").asText();
    return (type.equals("message") || type.equals("reasoning"))
        && (status.equals("in_progress") || status.equals("incomplete"));
  }

  private static void putArguments(ObjectNode body, ObjectNode chat) {
    JsonNode reasoning = Fields.objectOrAbsent(body, "reasoning");
    if (reasoning.hasNonNull("effort")) {
      chat.set("reasoning_effort", reasoning.get("effort"));
    }
    JsonNode arguments = body.path("chat_template_kwargs");
    if (!Fields.isAbsent(arguments)) {
      chat.set("chat_template_kwargs", arguments);
    }
  }

  private static void putTools(ObjectNode body, ObjectNode chat) {
    JsonNode tools = body.path("tools");
    if (!tools.isArray() && !tools.isMissingNode()) {
      throw InexactPromptException.invalid("tools is not a list");
    }
    if (!tools.isEmpty()) {
      chat.set("tools", Tools.read(tools));
      chat.put(
          "tool_choice", "none".equals(body.path("tool_choice").textValue()) ? "none" : "auto");
    }
  }

  /**
   * The tools that the model is shown: functions, those in namespaces too, and custom tools as
   * functions with one text. Tools of other types are the engine's own.
   */
  private static final class Tools {
    private static final String SEPARATOR = "__";

    private Tools() {}

    static ArrayNode read(JsonNode tools) {
      ArrayNode read = JsonNodeFactory.instance.arrayNode();
      for (JsonNode tool : tools) {
        switch (tool.path("type").asText()) {
          case "function" -> read.add(function(tool, Fields.requiredText(tool, "name")));
          case "namespace" -> addAll(tool, read);
          case "custom" -> read.add(custom(tool));
          default -> {} // not shown
        }
      }
      return read;
    }

    private static void addAll(JsonNode namespace, ArrayNode read) {
      for (JsonNode tool : namespace.path("tools")) {
        if (tool.path("type").asText().equals("function")) {
          read.add(
              function(
                  tool,
                  Fields.requiredText(namespace, "name")
                      + SEPARATOR
                      + Fields.requiredText(tool, "name")));
        }
      }
    }

    private static ObjectNode function(JsonNode tool, String name) {
      ObjectNode made = JsonNodeFactory.instance.objectNode().put("type", "function");
      ObjectNode function = made.putObject("function").put("name", name);
      for (String field : List.of("description", "parameters", "strict", "defer_loading")) {
        if (tool.hasNonNull(field)) {
          function.set(field, tool.get(field));
        }
      }
      return made;
    }

    private static ObjectNode custom(JsonNode tool) {
      if (tool.path("format").path("type").asText().equals("grammar")) {
        throw InexactPromptException.invalid("a custom tool with a grammar");
      }
      ObjectNode shown = JsonNodeFactory.instance.objectNode();
      shown.set("description", tool.path("description"));
      ObjectNode parameters = shown.putObject("parameters").put("type", "object");
      parameters
          .putObject("properties")
          .putObject("input")
          .put("type", "string")
          .put("description", "The freeform text payload for this tool.");
      parameters.putArray("required").add("input");
      parameters.put("additionalProperties", false);
      return function(shown, Fields.requiredText(tool, "name"));
    }
  }

  /**
   * Makes messages of the items of a request's input; what the model said in several items becomes
   * one message where the engine makes it one.
   *
   * <p>Confined to its thread.
   */
  private static final class Items {
    private static final Set<String> ROLES = Set.of("user", "system", "developer");

    private final ArrayNode messages = JsonNodeFactory.instance.arrayNode();

    private Items() {}

    static ArrayNode messages(JsonNode input) {
      Items items = new Items();
      input.forEach(items::add);
      return items.messages;
    }

    private void add(JsonNode item) {
      String type = item.path("type").asText("message");
      switch (type) {
        case "function_call" ->
            addCall(item, calledName(item), Fields.requiredText(item, "arguments"));
        case "custom_tool_call" ->
            addCall(item, Fields.requiredText(item, "name"), customArguments(item));
        case "function_call_output", "custom_tool_call_output" -> addOutput(item);
        case "reasoning" -> addSaid("reasoning", AssistantText.reasoning(item));
        case "message" -> addMessage(item);
        default -> throw InexactPromptException.invalid("an input item of another type");
      }
    }

    private static String calledName(JsonNode item) {
      boolean inNamespace = !item.path("namespace").asText("").isEmpty();
      String name = Fields.requiredText(item, "name");
      return inNamespace && item.path("namespace").isTextual()
          ? item.path("namespace").textValue() + "__" + name
          : name;
    }

    private static String customArguments(JsonNode item) {
      String input = item.path("input").isTextual() ? item.path("input").textValue() : "";
      return JsonNodeFactory.instance.objectNode().put("input", input).toString();
    }

    private void addCall(JsonNode item, String name, String arguments) {
      ObjectNode call =
          JsonNodeFactory.instance.objectNode().put("id", Fields.requiredText(item, "call_id"));
      call.putObject("function").put("name", name).put("arguments", arguments);
      call.put("type", "function");
      JsonNode last = lastOfAssistant();
      ObjectNode message =
          last.isObject() ? (ObjectNode) last : messages.addObject().put("role", "assistant");
      message.withArray("tool_calls").add(call);
    }

    private void addOutput(JsonNode item) {
      JsonNode output = item.path("output");
      boolean stored = item.hasNonNull("id") && item.hasNonNull("status");
      if (!output.isTextual() && (!output.isArray() || stored)) {
        throw InexactPromptException.invalid("an output of a tool that is not read here");
      }
      output.forEach(Items::checkPart);
      messages
          .addObject()
          .put("role", "tool")
          .put("tool_call_id", Fields.requiredText(item, "call_id"))
          .set("content", output);
    }

    /** Adds what the model said to its last message if that has none of it yet. */
    private void addSaid(String field, String text) {
      JsonNode last = lastOfAssistant();
      if (last.isObject() && !last.hasNonNull(field)) {
        ((ObjectNode) last).put(field, text);
      } else {
        messages.addObject().put("role", "assistant").put(field, text);
      }
    }

    private void addMessage(JsonNode item) {
      String role = item.path("role").asText();
      JsonNode content = item.path("content");
      if (role.equals("assistant")) {
        addSaid("content", AssistantText.content(item));
        return;
      }
      boolean valid = ROLES.contains(role) && (content.isTextual() || content.isArray());
      if (!valid || item.has("tools")) {
        throw InexactPromptException.invalid(
            "a message with a role or content amiss, or with tools");
      }
      content.forEach(Items::checkPart);
      messages.add(item);
    }

    /** Only texts and media are parts of a message here; the chat's rules refuse the media. */
    private static void checkPart(JsonNode part) {
      String type = part.path("type").asText();
      if (!Set.of("input_text", "input_image", "input_file").contains(type)) {
        throw InexactPromptException.invalid("a content part of another type");
      }
    }

    private JsonNode lastOfAssistant() {
      JsonNode last = messages.path(messages.size() - 1);
      boolean said = last.path("role").asText().equals("assistant");
      return said ? last : JsonNodeFactory.instance.missingNode();
    }

    /** What the model said in one item: of several parts the engine takes the first. */
    private static final class AssistantText {

      private AssistantText() {}

      static String content(JsonNode item) {
        JsonNode content = item.path("content");
        if (content.isTextual()) {
          return content.textValue();
        }
        String type = content.path(0).path("type").asText();
        boolean output = item.path("type").isTextual() && type.equals("output_text");
        boolean input = type.equals("input_text");
        for (JsonNode part : content) {
          String other = part.path("type").asText();
          output &= other.equals("output_text") || other.equals("refusal");
          input &= other.equals("input_text");
        }
        if (!output && !input) {
          throw InexactPromptException.invalid("content of the assistant that is not read here");
        }
        return first(content);
      }

      static String reasoning(JsonNode item) {
        JsonNode content = item.path("content");
        JsonNode summary = item.path("summary");
        if (!item.path("encrypted_content").asText("").isEmpty()
            && item.hasNonNull("encrypted_content")) {
          throw InexactPromptException.invalid("encrypted reasoning");
        }
        if (!summary.isArray()) {
          throw InexactPromptException.invalid("reasoning without summary");
        }
        if (!content.isEmpty()) {
          return first(content);
        }
        return summary.isEmpty() ? "" : first(summary);
      }

      private static String first(JsonNode parts) {
        return Fields.requiredText(parts.path(0), "text");
      }
    }
  }
}
