package dev.warmpath.tokenizer.chat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.body.Fields;
import dev.warmpath.tokenizer.body.InexactPromptException;
import dev.warmpath.tokenizer.chat.ModelChats.Origin;
import dev.warmpath.tokenizer.image.ImageParts;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A chat request as vLLM 0.32 reads it for every model, before it is rendered.
 *
 * <p>Confined to its thread.
 */
public final class ChatRequest {
  private final ObjectNode body;
  private final Origin origin;
  private final TemplateArguments arguments;
  private final @Nullable Object tools;

  private ChatRequest(
      ObjectNode body, Origin origin, TemplateArguments arguments, @Nullable Object tools) {
    this.body = body;
    this.origin = origin;
    this.arguments = arguments;
    this.tools = tools;
  }

  /**
   * Reads arguments and tools.
   *
   * @throws dev.warmpath.tokenizer.body.InexactPromptException if the engine refuses them, or they
   *     are not known here
   */
  public static ChatRequest read(ObjectNode body, Origin origin, ChatOptions.Templates options) {
    TemplateArguments arguments = TemplateArguments.of(body, options);
    Object own = ToolReader.read(body, options.excludesToolsWhenNone(), origin != Origin.CLIENT);
    Object replaced = arguments.tools();
    return new ChatRequest(body, origin, arguments, replaced == null ? own : replaced);
  }

  /** What the request and the engine's defaults give to the template besides the chat. */
  public TemplateArguments arguments() {
    return arguments;
  }

  /** A list of maps, or null for no tools. */
  public @Nullable Object tools() {
    return tools;
  }

  /**
   * The messages, for the caller to change; their content is a list of parts, or else one text.
   *
   * @throws dev.warmpath.tokenizer.body.InexactPromptException if the engine refuses them, or they
   *     are not known here
   */
  public List<Map<String, @Nullable Object>> messages(boolean asParts) {
    return messages(asParts, ImageParts.none());
  }

  /** The same, with their images added to {@code images}. */
  public List<Map<String, @Nullable Object>> messages(boolean asParts, ImageParts images) {
    return new MessageReader(asParts, origin == Origin.BUILT, images).read(body);
  }

  /**
   * Reads messages as the engine does: each becomes a new dict with the fields that it knows for
   * the role, in its own order.
   */
  private static final class MessageReader {
    private final ContentReader content;
    private final boolean keepsOrder;

    /** With {@code keepsOrder} calls keep the order of their keys. */
    MessageReader(boolean asParts, boolean keepsOrder, ImageParts images) {
      this.content = new ContentReader(asParts, images);
      this.keepsOrder = keepsOrder;
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
      String role = Fields.requiredText(message, "role");
      Map<String, @Nullable Object> read = new LinkedHashMap<>();
      read.put("role", role);
      read.put("content", content.read(role, message.path("content")));
      if (role.equals("assistant")) {
        assistant(message, read);
      } else if (role.equals("tool")) {
        putToolCallId(message, read);
      }
      putName(message, read);
      if (message.path("task").isTextual()) {
        read.put("task", message.path("task").textValue());
      }
      if (role.equals("developer")) {
        read.put("tools", developerTools(message.path("tools")));
      }
      return read;
    }

    private static void putName(JsonNode message, Map<String, @Nullable Object> read) {
      if (message.has("name")) {
        read.put("name", Fields.requiredText(message, "name"));
      }
    }

    private static void putToolCallId(JsonNode message, Map<String, @Nullable Object> read) {
      if (message.has("tool_call_id")) {
        read.put("tool_call_id", Fields.text(message, "tool_call_id"));
      }
    }

    private void assistant(JsonNode message, Map<String, @Nullable Object> read) {
      List<Object> calls = toolCalls(Fields.listOrAbsent(message, "tool_calls"));
      if (!calls.isEmpty()) {
        read.put("tool_calls", calls);
      }
      String given = Fields.text(message, "reasoning");
      String reasoning = given == null ? Fields.text(message, "reasoning_content") : given;
      if (reasoning != null) {
        read.put("reasoning", reasoning);
        read.put("reasoning_content", reasoning);
      }
    }

    private List<Object> toolCalls(JsonNode calls) {
      List<Object> read = new ArrayList<>(calls.size());
      for (JsonNode call : calls) {
        read.add(toolCall(call));
      }
      return read;
    }

    private Map<String, @Nullable Object> toolCall(JsonNode call) {
      JsonNode function = call.path("function");
      boolean complete =
          call.path("id").isTextual()
              && "function".equals(call.path("type").textValue())
              && function.path("name").isTextual()
              && function.path("arguments").isTextual();
      if (!complete) {
        throw InexactPromptException.invalid("a tool call without id, type, name or arguments");
      }
      Map<String, @Nullable Object> read = ordered(call, "id", "function", "type");
      Map<String, @Nullable Object> described = ordered(function, "arguments", "name");
      described.put("arguments", JsonValues.parsedObject(function.path("arguments").textValue()));
      read.put("function", described);
      return read;
    }

    private Map<String, @Nullable Object> ordered(JsonNode node, String... first) {
      return keepsOrder ? JsonValues.map(node) : JsonValues.ordered(node, first);
    }

    private static @Nullable List<Object> developerTools(JsonNode tools) {
      if (Fields.isAbsent(tools)) {
        return null;
      }
      List<Object> read = new ArrayList<>(tools.size());
      for (JsonNode tool : tools) {
        JsonNode function = tool.path("function");
        checkDeveloperTool(tool.path("type"), function);
        Map<String, @Nullable Object> described = JsonValues.ordered(tool, "function", "type");
        described.put(
            "function",
            JsonValues.ordered(function, "name", "description", "parameters", "strict"));
        read.add(described);
      }
      return read;
    }

    /** Others are left as they are by the engine, in the client's order. */
    private static void checkDeveloperTool(JsonNode type, JsonNode function) {
      JsonNode parameters = function.path("parameters");
      JsonNode description = function.path("description");
      JsonNode strict = function.path("strict");
      boolean valid =
          "function".equals(type.textValue())
              && function.path("name").isTextual()
              && (description.isMissingNode() || description.isTextual())
              && (parameters.isMissingNode() || parameters.isObject())
              && (Fields.isAbsent(strict) || strict.isBoolean());
      if (!valid) {
        throw InexactPromptException.invalid("a tool of a developer message that is no function");
      }
    }
  }
}
