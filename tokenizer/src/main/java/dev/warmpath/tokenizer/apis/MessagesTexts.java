package dev.warmpath.tokenizer.apis;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.body.Fields;
import dev.warmpath.tokenizer.body.InexactPromptException;
import dev.warmpath.tokenizer.chat.ChatTexts;
import dev.warmpath.tokenizer.chat.ModelChats;
import dev.warmpath.tokenizer.image.ImageParts;
import java.util.List;
import java.util.Set;

/**
 * Turns bodies of {@code /v1/messages} into the text that vLLM 0.32 tokenizes for them: each
 * becomes the chat request that the engine makes of it, which is then rendered.
 *
 * <p>Thread-safe.
 */
public final class MessagesTexts implements ChatTexts {
  private static final Set<String> EFFORTS = Set.of("low", "medium", "high", "xhigh", "max");
  private static final Set<String> CHOICES = Set.of("auto", "any", "none");
  private static final int LEAST_BUDGET_TOKENS = 1024;

  private final ModelChats chats;
  private final Probes probes;

  /** For a model with these chats. */
  public MessagesTexts(ModelChats chats) {
    this.chats = chats;
    this.probes = Probes.of(chats);
  }

  @Override
  public int[] specialIds() {
    return chats.specialIds();
  }

  @Override
  public String render(ObjectNode body) {
    return render(body, ImageParts.none());
  }

  @Override
  public String render(ObjectNode body, ImageParts images) {
    return chats.render(chat(body), ModelChats.Origin.CONVERTED, images);
  }

  /** The chat request that the engine makes of a body. */
  private ObjectNode chat(ObjectNode body) {
    JsonNode messages = body.path("messages");
    if (!messages.isArray()) {
      throw InexactPromptException.invalid("messages is not a list");
    }
    JsonNode limit = body.path("max_tokens");
    if (!limit.isIntegralNumber() || limit.longValue() < 1) {
      throw InexactPromptException.invalid("max_tokens is not at least 1");
    }
    ObjectNode chat = JsonNodeFactory.instance.objectNode();
    chat.set("messages", new Conversation(probes.mergesSystem()).read(body));
    JsonNode arguments = body.path("chat_template_kwargs");
    if (!Fields.isAbsent(arguments)) {
      chat.set("chat_template_kwargs", arguments);
    }
    putEffort(body, chat);
    JsonNode tools = ToolDefinitions.read(body);
    String choice = choice(body.path("tool_choice"));
    if (!tools.isMissingNode()) {
      chat.set("tools", tools);
      chat.put("tool_choice", choice.equals("none") ? "none" : "auto");
    }
    return chat;
  }

  private void putEffort(ObjectNode body, ObjectNode chat) {
    JsonNode config = Fields.objectOrAbsent(body, "output_config");
    String effort = Fields.text(config, "effort");
    if (effort != null && !EFFORTS.contains(effort)) {
      throw InexactPromptException.invalid("output_config.effort is none of " + EFFORTS);
    }
    JsonNode thinking = Fields.objectOrAbsent(body, "thinking");
    String type = Fields.isAbsent(thinking) ? "adaptive" : thinking.path("type").asText();
    switch (type) {
      case "disabled" -> effort = probes.disabledEffort();
      case "enabled" -> checkBudget(body, thinking);
      case "adaptive" -> {}
      default -> throw InexactPromptException.invalid("thinking.type is not known");
    }
    if (effort != null) {
      chat.put("reasoning_effort", effort);
    }
  }

  private static void checkBudget(ObjectNode body, JsonNode thinking) {
    JsonNode budget = thinking.path("budget_tokens");
    boolean fits =
        budget.isIntegralNumber()
            && budget.longValue() >= LEAST_BUDGET_TOKENS
            && budget.longValue() < body.path("max_tokens").longValue();
    if (!fits) {
      throw InexactPromptException.invalid("thinking.budget_tokens is not in its range");
    }
  }

  private static String choice(JsonNode choice) {
    if (Fields.isAbsent(choice)) {
      return "auto";
    }
    String type = choice.path("type").asText();
    String name = Fields.text(choice, "name");
    boolean named = type.equals("tool") && name != null && !name.isEmpty();
    if (!named && !CHOICES.contains(type)) {
      throw InexactPromptException.invalid("tool_choice is not known, or names no tool");
    }
    return type;
  }

  /** The tools of a Messages request as the chat request has them. */
  private static final class ToolDefinitions {

    private ToolDefinitions() {}

    /** The chat request's tools; missing if none are given. */
    static JsonNode read(ObjectNode body) {
      JsonNode tools = Fields.listOrAbsent(body, "tools");
      if (Fields.isAbsent(tools)) {
        return MissingNode.getInstance();
      }
      ArrayNode read = JsonNodeFactory.instance.arrayNode();
      tools.forEach(tool -> read.add(tool(tool)));
      return read;
    }

    private static ObjectNode tool(JsonNode tool) {
      JsonNode schema = tool.path("input_schema");
      if (!tool.path("name").isTextual() || !schema.isObject()) {
        throw InexactPromptException.invalid("a tool without name or input_schema");
      }
      ObjectNode made = JsonNodeFactory.instance.objectNode().put("type", "function");
      ObjectNode function = made.putObject("function");
      function.set("name", tool.get("name"));
      function.put("description", Fields.text(tool, "description"));
      ObjectNode parameters = schema.deepCopy();
      if (!parameters.has("type")) {
        parameters.put("type", "object");
      }
      function.set("parameters", parameters);
      for (String flag : List.of("strict", "defer_loading")) {
        if (!Fields.isAbsent(tool.path(flag))) {
          function.set(flag, tool.get(flag));
        }
      }
      return made;
    }
  }
}
