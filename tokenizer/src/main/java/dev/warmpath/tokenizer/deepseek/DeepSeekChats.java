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
import java.util.List;
import java.util.Map;

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
}
