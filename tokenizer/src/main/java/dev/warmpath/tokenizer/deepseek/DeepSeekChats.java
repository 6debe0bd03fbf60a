package dev.warmpath.tokenizer.deepseek;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.body.InexactPromptException;
import dev.warmpath.tokenizer.chat.ChatOptions;
import dev.warmpath.tokenizer.chat.ChatRequest;
import dev.warmpath.tokenizer.chat.ModelChats;
import dev.warmpath.tokenizer.chat.TemplateArguments;
import dev.warmpath.tokenizer.chat.TemplateError;
import dev.warmpath.tokenizer.template.ChatTemplate;
import dev.warmpath.tokenizer.template.syntax.Budget;
import dev.warmpath.tokenizer.template.syntax.TemplateException;
import dev.warmpath.tokenizer.template.value.Values;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Turns chats into the text that vLLM 0.32 tokenizes for DeepSeek V3.2 and V4.
 *
 * <p>Thread-safe.
 */
public final class DeepSeekChats implements ModelChats {

  /** The prompt of a chat. */
  private interface Format {
    String prompt(ChatRequest chat, Budget budget);
  }

  /** By the architecture of the model, as the engine chooses it. */
  private static final Map<String, Format> FORMATS =
      Map.of(
          "DeepseekV32ForCausalLM", V32Prompt::of,
          "DeepseekV4ForCausalLM", V4Prompt::of,
          "DeepseekV4ForConditionalGeneration", V4Prompt::of);

  private final Format format;
  private final ChatOptions options;

  private DeepSeekChats(Format format, ChatOptions options) {
    this.format = format;
    this.options = options;
  }

  /** Whether the prompts of this architecture are known here. */
  public static boolean knows(String architecture) {
    return FORMATS.containsKey(architecture);
  }

  /** The chats of a {@linkplain #knows known} architecture. */
  public static DeepSeekChats of(String architecture, ChatOptions options) {
    Format format = FORMATS.get(architecture);
    if (format == null) {
      throw new IllegalArgumentException("architecture=" + architecture);
    }
    return new DeepSeekChats(format, options);
  }

  @Override
  public String render(ObjectNode body, Origin origin) {
    boolean continues = body.path("continue_final_message").asBoolean();
    if (continues && body.path("add_generation_prompt").asBoolean()) {
      throw InexactPromptException.invalid("continue_final_message with add_generation_prompt");
    }
    if (origin == Origin.BUILT) {
      refuseUnset(body.path("chat_template_kwargs"));
    }
    try {
      ChatRequest chat = ChatRequest.read(body, origin, options.templates());
      return format.prompt(chat, new Budget(options.limits()));
    } catch (TemplateException e) {
      throw TemplateError.inexact(e);
    }
  }

  /** In chats of other requests the engine keeps these values, which it drops elsewhere. */
  private static void refuseUnset(JsonNode arguments) {
    for (JsonNode value : arguments) {
      if (value.isNull() || "auto".equals(value.textValue())) {
        throw InexactPromptException.invalid("an argument of the template that is null or auto");
      }
    }
  }

  /** The engine's own {@code --chat-template}, which has no other effect. */
  @Override
  public List<ChatTemplate> templates() {
    String file = options.templates().file();
    return file == null
        ? List.of()
        : List.of(ChatTemplate.parse(file, options.clock(), options.limits()));
  }

  /** Whether an argument is given and true to Python. */
  static boolean isTrue(TemplateArguments arguments, String name) {
    return Values.isTrue(Values.of(arguments.value(name)));
  }

  /** The engine fails on this chat. */
  static InexactPromptException refused(String detail) {
    return new InexactPromptException(
        FallbackCause.TEMPLATE_ERROR, "the model's format: " + detail);
  }

  /**
   * Writes the prompt of DeepSeek V3.2: a user's message opens the answer behind it, results of
   * tools follow their calls, and reasoning is shown behind the last question only.
   *
   * <p>Confined to its thread.
   */
  private static final class V32Prompt {
    private static final Set<String> KEPT = Set.of("user", "system", "tool");

    private static final String BEFORE_SCHEMAS =
        """
        ## Tools
        You have access to a set of tools you can use to answer the user's question.
        You can invoke functions by writing a "<｜DSML｜function_calls>" block like the following as part of your reply to the user:
        <｜DSML｜function_calls>
        <｜DSML｜invoke name="$FUNCTION_NAME">
        <｜DSML｜parameter name="$PARAMETER_NAME" string="true|false">$PARAMETER_VALUE</｜DSML｜parameter>
        ...
        </｜DSML｜invoke>
        <｜DSML｜invoke name="$FUNCTION_NAME2">
        ...
        </｜DSML｜invoke>
        </｜DSML｜function_calls>
        String and scalar parameters should be specified as is without any escaping or quotes, while lists and objects should use JSON format. The "string" attribute should be set to "true" for string type parameters and "false" for other types (numbers, booleans, arrays, objects).
        If the thinking_mode is enabled, then after function results you should strongly consider outputting a thinking block. Here is an example:
        <｜DSML｜function_calls>
        ...
        </｜DSML｜function_calls>
        <function_results>
        ...
        </function_results>
        <think>...thinking about results</think>
        Here are the functions available in JSONSchema format:
        <functions>
        """;

    private static final String BEHIND_SCHEMAS = "\n</functions>\n";

    private final List<DeepSeekMessage> messages;
    private final boolean thinking;
    private final int lastQuestion;
    private final Dsml dsml;
    private final StringBuilder out = new StringBuilder(Dsml.Marks.BEGIN);

    /** The last message before this one that is no result of a tool; -1 if there is none. */
    private int caller = -1;

    private V32Prompt(List<DeepSeekMessage> messages, boolean thinking, Budget budget) {
      this.messages = messages;
      this.thinking = thinking;
      this.lastQuestion = DeepSeekMessage.lastQuestion(messages);
      this.dsml = new Dsml(budget, "function_calls");
    }

    /** The prompt of a chat. */
    static String of(ChatRequest chat, Budget budget) {
      TemplateArguments arguments = chat.arguments();
      boolean thinking =
          DeepSeekChats.isTrue(arguments, "thinking")
              || DeepSeekChats.isTrue(arguments, "enable_thinking");
      List<DeepSeekMessage> messages = DeepSeekMessage.listOf(chat.messages(false));
      if (chat.tools() instanceof List<?> tools && !tools.isEmpty()) {
        messages.add(0, DeepSeekMessage.system().with("tools", tools));
      }
      boolean newQuestion = messages.get(messages.size() - 1).is("user");
      List<DeepSeekMessage> shown =
          thinking && newQuestion ? withoutOldReasoning(messages) : messages;
      return new V32Prompt(shown, thinking, budget).write();
    }

    /** The engine drops messages of other roles and then fails, as it counts them still. */
    private static List<DeepSeekMessage> withoutOldReasoning(List<DeepSeekMessage> messages) {
      int lastQuestion = DeepSeekMessage.lastQuestion(messages);
      List<DeepSeekMessage> shown = new ArrayList<>(messages.size());
      for (DeepSeekMessage message : messages) {
        boolean kept = shown.size() >= lastQuestion || KEPT.contains(message.role());
        if (!kept && !message.is("assistant")) {
          throw DeepSeekChats.refused("an early message of role " + message.role());
        }
        shown.add(kept ? message : message.with("reasoning", null));
      }
      return shown;
    }

    private String write() {
      for (int i = 0; i < messages.size(); i++) {
        DeepSeekMessage message = messages.get(i);
        switch (message.role()) {
          case "system" -> out.append(message.content()).append(tools(message));
          case "developer" -> addQuestion(i, developerText(message));
          case "user" -> addQuestion(i, message.content());
          case "assistant" -> addAnswer(i, message);
          case "tool" -> addResult(i, message);
          default -> throw DeepSeekChats.refused("an unknown role");
        }
        caller = message.is("tool") ? caller : i;
      }
      return out.toString();
    }

    private String tools(DeepSeekMessage message) {
      return message.tools().isEmpty()
          ? ""
          : "\n\n" + BEFORE_SCHEMAS + dsml.schemas(message.tools()) + BEHIND_SCHEMAS;
    }

    private String developerText(DeepSeekMessage message) {
      if (message.content().isEmpty()) {
        throw DeepSeekChats.refused("a developer message without content");
      }
      return tools(message) + "\n\n# The user's message is: " + message.content();
    }

    private void addQuestion(int i, String text) {
      out.append(Dsml.Marks.USER)
          .append(text)
          .append(Dsml.Marks.ASSISTANT)
          .append(opening(i == lastQuestion));
    }

    private String opening(boolean mayThink) {
      return mayThink && thinking ? Dsml.Marks.THINK : Dsml.Marks.END_THINK;
    }

    private void addAnswer(int i, DeepSeekMessage message) {
      if (thinking && i > lastQuestion) {
        if (message.reasoning().isEmpty() && message.callCount() == 0) {
          throw DeepSeekChats.refused("an answer without reasoning and calls while thinking");
        }
        out.append(message.reasoning()).append(Dsml.Marks.END_THINK);
      }
      out.append(message.content()).append(dsml.calls(message.calls())).append(Dsml.Marks.END);
    }

    /*
     * The engine reads the calls at caller, and Python's index -1 is the last message: a result that
     * stands first belongs to the calls of the last message.
     */
    private void addResult(int i, DeepSeekMessage message) {
      boolean first = i == 0;
      int owner = first ? messages.size() - 1 : caller;
      int calls = owner < 0 ? 0 : messages.get(owner).callCount();
      int order = i - caller;
      if (order > calls) {
        throw DeepSeekChats.refused("a tool's result without its call");
      }
      out.append(order == 1 ? "\n\n<function_results>" : "");
      out.append("\n<result>").append(message.content()).append("</result>");
      if (order == calls) {
        out.append("\n</function_results>\n\n").append(opening(i >= lastQuestion));
      }
    }
  }
}
