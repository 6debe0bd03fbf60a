package dev.warmpath.tokenizer.harmony;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.body.Fields;
import dev.warmpath.tokenizer.body.InexactPromptException;
import dev.warmpath.tokenizer.chat.ChatOptions;
import dev.warmpath.tokenizer.chat.EngineDate;
import dev.warmpath.tokenizer.chat.ModelChats;
import dev.warmpath.tokenizer.chat.ToolReader;
import dev.warmpath.tokenizer.files.ModelFiles;
import dev.warmpath.tokenizer.template.ChatTemplate;
import java.time.Clock;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Turns chat requests for gpt-oss into the text that vLLM 0.32 encodes for them, whatever template
 * the model has.
 *
 * <p>Thread-safe.
 */
public final class HarmonyChats implements ModelChats {
  private static final String MODEL_TYPE = "gpt_oss";
  private static final Set<String> CHOICES = Set.of("none", "auto", "required");

  private final ChatOptions options;
  private final CurrentDate date;
  private final List<ChatTemplate> templates;

  /** For a model without templates. */
  public HarmonyChats(ChatOptions options) {
    this(options, List.of());
  }

  /** With the model's {@code templates}, by which the engine only tries late system messages. */
  public HarmonyChats(ChatOptions options, List<ChatTemplate> templates) {
    this.options = options;
    this.templates = List.copyOf(templates);
    this.date = new CurrentDate(options);
  }

  /** Whether vLLM renders this model's chats in the Harmony form, with a vocabulary as it has. */
  public static boolean fits(ModelFiles files) {
    return files.modelType().equals(MODEL_TYPE)
        && !files.tokenizesElsewhere()
        && HarmonyToken.areIn(files);
  }

  @Override
  public int[] specialIds() {
    return HarmonyToken.ids();
  }

  @Override
  public List<ChatTemplate> templates() {
    return templates;
  }

  @Override
  public String render(ObjectNode body, Origin origin) {
    checkFields(body);
    boolean excludes = options.templates().excludesToolsWhenNone();
    JsonNode tools = ToolReader.given(body, excludes, origin != Origin.CLIENT);
    String effort =
        Preamble.effort(options.templates().effort(Fields.text(body, "reasoning_effort")));
    JsonNode messages = body.path("messages");
    Fields.require(messages.isArray(), "messages", "a list");
    boolean instructed = ChatMessages.instructs(messages.path(0));
    String instructions = instructed ? ContentTexts.joined(messages.get(0).path("content")) : null;
    HarmonyConversation conversation = new HarmonyConversation();
    Preamble preamble = preamble(tools);
    preamble.addTo(conversation, instructions, effort);
    new ChatMessages(preamble, conversation).add(messages, instructed ? 1 : 0);
    return conversation.withSpecials();
  }

  private Preamble preamble(JsonNode tools) {
    List<JsonNode> functions = new ArrayList<>(tools.size());
    tools.forEach(tool -> functions.add(tool.path("function")));
    return new Preamble(
        date.text(), options.harmony().instructsSystem(), new FunctionTools(functions));
  }

  /** Fields that change nothing, but are refused when they are wrong. */
  private static void checkFields(ObjectNode body) {
    boolean continues = Fields.flag(body, "continue_final_message", false);
    if (continues && Fields.flag(body, "add_generation_prompt", false)) {
      throw InexactPromptException.invalid("continue_final_message with add_generation_prompt");
    }
    Fields.objectOrAbsent(body, "chat_template_kwargs");
    JsonNode format = body.path("response_format");
    boolean formed =
        !format.path("type").asText().equals("json_schema") || format.hasNonNull("json_schema");
    Fields.require(formed, "response_format", "with its json_schema");
    checkChoice(body.path("tool_choice"), body.path("tools"));
  }

  private static void checkChoice(JsonNode choice, JsonNode tools) {
    boolean known = Fields.isAbsent(choice) || CHOICES.contains(choice.asText());
    @Nullable String name = choice.path("function").path("name").textValue();
    for (JsonNode tool : tools) {
      known |= name != null && name.equals(tool.path("function").path("name").textValue());
    }
    Fields.require(known, "tool_choice", "none, auto, required or one of the tools");
  }

  /**
   * The date in system messages: the engine's pinned one, or that of its clock, which is not known
   * near midnight.
   *
   * <p>Immutable.
   */
  static final class CurrentDate {
    private final @Nullable String pinned;
    private final Clock clock;

    CurrentDate(ChatOptions options) {
      this.pinned = options.harmony().startDate();
      this.clock = options.clock();
    }

    /**
     * The date as text.
     *
     * @throws InexactPromptException if it is about to change, or has just changed
     */
    String text() {
      if (pinned != null) {
        return pinned;
      }
      LocalDate date = EngineDate.by(clock);
      if (date == null) {
        throw new InexactPromptException(
            FallbackCause.NEAR_MIDNIGHT, "the engine's date is about to change");
      }
      return date.toString();
    }
  }
}
