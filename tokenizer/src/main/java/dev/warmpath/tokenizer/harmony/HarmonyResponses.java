package dev.warmpath.tokenizer.harmony;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.body.Fields;
import dev.warmpath.tokenizer.body.InexactPromptException;
import dev.warmpath.tokenizer.chat.ChatOptions;
import dev.warmpath.tokenizer.chat.ChatTexts;
import dev.warmpath.tokenizer.harmony.HarmonyChats.CurrentDate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Turns bodies of {@code /v1/responses} for gpt-oss into the text that vLLM 0.32 encodes for them;
 * the engine has no tools of its own.
 *
 * <p>Thread-safe.
 */
public final class HarmonyResponses implements ChatTexts {
  /** Shown only by an engine with a tool server. */
  private static final Set<String> BUILT_IN = Set.of("web_search_preview", "code_interpreter");

  /** Choices of one tool by its name. */
  private static final Set<String> NAMED = Set.of("function", "custom");

  private final ChatOptions options;
  private final CurrentDate date;

  public HarmonyResponses(ChatOptions options) {
    this.options = options;
    this.date = new CurrentDate(options);
  }

  @Override
  public int[] specialIds() {
    return HarmonyToken.ids();
  }

  @Override
  public String render(ObjectNode body) {
    checkFields(body);
    JsonNode input = body.path("input");
    Fields.require(input.isTextual() || input.isArray(), "input", "text or a list");
    String given = Fields.text(body, "instructions");
    String effort = effort(body);
    boolean peeled = given == null && ChatMessages.instructs(input.path(0));
    Preamble preamble = new Preamble(date.text(), options.harmony().instructsSystem(), tools(body));
    HarmonyConversation conversation = new HarmonyConversation();
    preamble.addTo(conversation, peeled ? instructions(input.get(0)) : given, effort);
    if (input.isTextual()) {
      conversation.add(HarmonyMessage.of("user", List.of(input.textValue())));
    }
    ResponseItems items = new ResponseItems(preamble, conversation);
    for (int i = peeled ? 1 : 0; i < input.size(); i++) {
      items.add(input.get(i));
    }
    return conversation.withSpecials();
  }

  private static @Nullable String instructions(JsonNode item) {
    JsonNode content = item.path("content");
    Fields.require(content.isTextual() || content.isArray(), "content", "text or a list");
    return ContentTexts.joined(content);
  }

  private String effort(ObjectNode body) {
    String asked = Fields.text(Fields.objectOrAbsent(body, "reasoning"), "effort");
    return Preamble.effort(options.templates().effort(asked));
  }

  private static void checkFields(ObjectNode body) {
    boolean stored =
        body.hasNonNull("previous_response_id") || body.hasNonNull("previous_input_messages");
    if (stored) {
      throw new InexactPromptException(
          FallbackCause.STORED_HISTORY, "the engine's own store has the rest of the messages");
    }
    checkChoice(body.path("tool_choice"), body.path("tools"));
    if (body.hasNonNull("prompt")) {
      throw InexactPromptException.invalid("prompt is not supported by the engine");
    }
    if (Fields.objectOrAbsent(body, "chat_template_kwargs").hasNonNull("chat_template")) {
      throw new InexactPromptException(
          FallbackCause.REQUEST_TEMPLATE, "the request has a template");
    }
  }

  private static void checkChoice(JsonNode choice, JsonNode tools) {
    boolean named = NAMED.contains(choice.path("type").asText());
    boolean known = !named && !(tools.isEmpty() && "required".equals(choice.textValue()));
    @Nullable String name = choice.path("name").textValue();
    for (JsonNode tool : tools) {
      known |= name != null && name.equals(tool.path("name").textValue());
    }
    Fields.require(known, "tool_choice", "one of the tools");
  }

  private static FunctionTools tools(ObjectNode body) {
    JsonNode tools = body.path("tools");
    Fields.require(tools.isArray() || tools.isMissingNode(), "tools", "a list");
    List<JsonNode> functions = new ArrayList<>();
    boolean others = false;
    for (JsonNode tool : tools) {
      String type = tool.path("type").asText();
      if (type.equals("function")) {
        functions.add(function(tool));
      }
      others |= type.equals("mcp");
      if (!type.equals("function") && !type.equals("mcp") && !BUILT_IN.contains(type)) {
        throw InexactPromptException.invalid("a tool of another type");
      }
    }
    if (others && !functions.isEmpty()) {
      throw InexactPromptException.invalid("functions together with tools of another server");
    }
    return new FunctionTools(functions);
  }

  private static JsonNode function(JsonNode tool) {
    Fields.requiredText(tool, "name");
    Fields.text(tool, "description");
    Fields.objectOrAbsent(tool, "parameters");
    return tool;
  }

  /**
   * Makes Harmony messages of the items of a Responses request.
   *
   * <p>Confined to its thread.
   */
  private static final class ResponseItems {
    private static final Set<String> PARTS =
        Set.of("input_text", "input_image", "input_file", "output_text", "refusal");

    private final Preamble preamble;
    private final HarmonyConversation conversation;
    private final Map<String, String> namesById = new HashMap<>();

    ResponseItems(Preamble preamble, HarmonyConversation conversation) {
      this.preamble = preamble;
      this.conversation = conversation;
    }

    void add(JsonNode item) {
      String type = item.has("type") ? Fields.requiredText(item, "type") : "message";
      switch (type) {
        case "message" -> addMessage(item);
        case "reasoning" -> addThoughts(item);
        case "function_call" -> addCall(item);
        case "function_call_output" -> addResult(item);
        default -> throw InexactPromptException.invalid("an input item of another type");
      }
    }

    private void addMessage(JsonNode item) {
      String role = Fields.requiredText(item, "role");
      JsonNode content = item.path("content");
      Fields.require(content.isTextual() || content.isArray(), "content", "text or a list");
      content.forEach(part -> checkPart(part, item.has("type")));
      switch (role) {
        case "user" -> conversation.add(HarmonyMessage.of(role, ContentTexts.apart(content)));
        case "assistant" -> conversation.add(HarmonyMessage.answer(ContentTexts.apart(content)));
        case "system", "developer" -> {
          String text = ContentTexts.joined(content);
          if (text != null && !text.isEmpty()) {
            conversation.add(preamble.later(role, text));
          }
        }
        default -> throw InexactPromptException.invalid("a message with an unknown role");
      }
    }

    /** What the model said must be told by the item's type. */
    private static void checkPart(JsonNode part, boolean typed) {
      String type = part.path("type").asText();
      boolean said = type.equals("output_text") || type.equals("refusal");
      if (!PARTS.contains(type) || (said && !typed)) {
        throw InexactPromptException.invalid("a content part of another type");
      }
    }

    private void addThoughts(JsonNode item) {
      Fields.require(item.path("summary").isArray(), "summary", "a list");
      JsonNode content = Fields.listOrAbsent(item, "content");
      List<String> texts = new ArrayList<>();
      content.forEach(part -> texts.add(Fields.requiredText(part, "text")));
      if (!texts.isEmpty()) {
        conversation.add(HarmonyMessage.analysis(String.join("\n", texts)));
      }
    }

    private void addCall(JsonNode item) {
      String name = Fields.requiredText(item, "name");
      namesById.put(Fields.requiredText(item, "call_id"), name);
      conversation.add(HarmonyMessage.call(name, Fields.requiredText(item, "arguments")));
    }

    private void addResult(JsonNode item) {
      String name = namesById.get(Fields.requiredText(item, "call_id"));
      if (name == null) {
        throw InexactPromptException.invalid("an output without its call");
      }
      conversation.add(HarmonyMessage.result(name, Fields.requiredText(item, "output")));
    }
  }
}
