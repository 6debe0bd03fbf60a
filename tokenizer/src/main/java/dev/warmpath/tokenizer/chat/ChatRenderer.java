package dev.warmpath.tokenizer.chat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.body.Fields;
import dev.warmpath.tokenizer.body.InexactPromptException;
import dev.warmpath.tokenizer.image.ImageParts;
import dev.warmpath.tokenizer.template.ChatTemplate;
import dev.warmpath.tokenizer.template.TemplateCache;
import dev.warmpath.tokenizer.template.syntax.TemplateException;
import dev.warmpath.tokenizer.template.syntax.Whitespace;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Turns chat requests into the text that vLLM 0.32 tokenizes for them: the same messages, tools and
 * arguments, given to the same template. What might come out differently is not rendered: it is
 * inexact, with a cause.
 *
 * <p>Thread-safe.
 */
public final class ChatRenderer implements ModelChats {
  /** The name of the template for chats without tools that a multimodal processor brings along. */
  public static final String PROCESSOR = "processor";

  private static final String DEFAULT = "default";
  private static final String WITH_TOOLS = "tool_use";

  private final Map<String, ChatTemplate> templates;
  private final Map<String, ?> specialTokens;
  private final ChatOptions options;
  private final TemplateCache ofRequests;

  private ChatRenderer(
      Map<String, ChatTemplate> templates, Map<String, ?> specialTokens, ChatOptions options) {
    this.templates = Map.copyOf(templates);
    this.specialTokens = Map.copyOf(specialTokens);
    this.options = options;
    this.ofRequests = new TemplateCache(options.clock(), options.limits());
  }

  /**
   * A renderer for a model's templates.
   *
   * @param sources the model's templates by name: {@code default}, {@code tool_use}, {@link
   *     #PROCESSOR}; others are never asked for
   * @param specialTokens by the names that templates use, such as {@code bos_token}
   * @throws TemplateException when a template cannot be parsed
   */
  public static ChatRenderer of(
      Map<String, String> sources, Map<String, ?> specialTokens, ChatOptions options) {
    Map<String, ChatTemplate> templates = new HashMap<>();
    for (String name : List.of(DEFAULT, WITH_TOOLS, PROCESSOR)) {
      String source = sources.get(name);
      if (source != null) {
        templates.put(name, ChatTemplate.parse(source, options.clock(), options.limits()));
      }
    }
    return new ChatRenderer(templates, specialTokens, options);
  }

  /** The templates for chats without tools and with tools; empty if one is missing. */
  @Override
  public List<ChatTemplate> templates() {
    return templates.containsKey(DEFAULT) ? List.of(template(false), template(true)) : List.of();
  }

  @Override
  public String render(ObjectNode body, Origin origin) {
    return render(body, origin, ImageParts.none());
  }

  @Override
  public String render(ObjectNode body, Origin origin, ImageParts images) {
    try {
      return rendered(body, origin, images);
    } catch (TemplateException e) {
      throw TemplateError.inexact(e);
    }
  }

  private String rendered(ObjectNode body, Origin origin, ImageParts images) {
    ChatRequest request = ChatRequest.read(body, origin, options.templates());
    TemplateArguments arguments = request.arguments();
    Object tools = request.tools();
    ChatTemplate template = template(body.path("chat_template"), tools != null);
    List<Map<String, @Nullable Object>> messages = messages(request, template, images);
    FinalMessage continuation = continuation(arguments, messages, template);
    String text = template.render(variables(arguments, tools, messages, template));
    return continuation == null ? text : continuation.cut(text);
  }

  private ChatTemplate template(JsonNode own, boolean withTools) {
    if (Fields.isAbsent(own)) {
      return template(withTools);
    }
    Fields.require(own.isTextual(), "chat_template", "text");
    return ofRequests.of(own.textValue());
  }

  private ChatTemplate template(boolean withTools) {
    ChatTemplate chosen = withTools ? null : templates.get(PROCESSOR);
    if (chosen == null && withTools) {
      chosen = templates.get(WITH_TOOLS);
    }
    if (chosen == null) {
      chosen = templates.get(DEFAULT);
    }
    if (chosen == null) {
      throw new InexactPromptException(FallbackCause.NO_TEMPLATE, "the model has no chat template");
    }
    return chosen;
  }

  private List<Map<String, @Nullable Object>> messages(
      ChatRequest request, ChatTemplate template, ImageParts images) {
    boolean asParts =
        switch (options.templates().contentFormat()) {
          case AUTO -> template.iteratesContent();
          case STRING -> false;
          case OPENAI -> true;
        };
    return DeveloperRole.apply(request.messages(asParts, images), template);
  }

  private static @Nullable FinalMessage continuation(
      TemplateArguments arguments,
      List<Map<String, @Nullable Object>> messages,
      ChatTemplate template) {
    if (!arguments.continuesFinalMessage()) {
      return null;
    }
    if (arguments.addsGenerationPrompt()) {
      throw InexactPromptException.invalid("continue_final_message with add_generation_prompt");
    }
    if (!template.mentions("content")) {
      throw new InexactPromptException(
          FallbackCause.TEMPLATE_ERROR, "the template has no content to continue");
    }
    return FinalMessage.mark(messages);
  }

  private Map<String, @Nullable Object> variables(
      TemplateArguments arguments,
      @Nullable Object tools,
      List<Map<String, @Nullable Object>> messages,
      ChatTemplate template) {
    Map<String, @Nullable Object> variables = new LinkedHashMap<>(specialTokens);
    arguments.addTo(variables, template.variables());
    variables.put("messages", messages);
    variables.put("tools", tools);
    variables.put("documents", arguments.documents());
    variables.put("add_generation_prompt", arguments.addsGenerationPrompt());
    return variables;
  }

  /**
   * What becomes of developer messages when the template does not know the role: they become system
   * messages, and if one of those does not stand first, all become one that does.
   */
  private static final class DeveloperRole {

    private DeveloperRole() {}

    static List<Map<String, @Nullable Object>> apply(
        List<Map<String, @Nullable Object>> messages, ChatTemplate template) {
      boolean known = template.mentions("\"developer\"") || template.mentions("'developer'");
      if (known || messages.stream().noneMatch(m -> "developer".equals(m.get("role")))) {
        return messages;
      }
      for (Map<String, @Nullable Object> message : messages) {
        if ("developer".equals(message.get("role"))) {
          message.put("role", "system");
          message.remove("tools");
        }
      }
      return merged(messages);
    }

    private static List<Map<String, @Nullable Object>> merged(
        List<Map<String, @Nullable Object>> messages) {
      List<String> contents = new ArrayList<>();
      List<Map<String, @Nullable Object>> result = new ArrayList<>();
      boolean scattered = false;
      Map<String, @Nullable Object> system = new LinkedHashMap<>();
      result.add(system);
      for (int i = 0; i < messages.size(); i++) {
        Map<String, @Nullable Object> message = messages.get(i);
        if ("system".equals(message.get("role"))) {
          scattered |= i > 0;
          String content = text(message.get("content"));
          if (!content.isEmpty()) {
            contents.add(content);
          }
        } else {
          result.add(message);
        }
      }
      system.put("role", "system");
      system.put("content", String.join("\n\n", contents));
      return scattered ? result : messages;
    }

    private static String text(@Nullable Object content) {
      if (!(content instanceof List<?> parts)) {
        return String.valueOf(content);
      }
      List<String> texts = new ArrayList<>();
      for (Object part : parts) {
        if (part instanceof Map<?, ?> map && map.get("text") instanceof String text) {
          texts.add(text);
        }
      }
      return String.join("\n", texts);
    }
  }

  /**
   * Leaves the last message open, for the model to go on with it: a mark is put behind its text,
   * and the output ends where the mark comes out.
   *
   * <p>Confined to its thread.
   */
  private static final class FinalMessage {
    private static final String MARK = "CONTINUE_FINAL_MESSAGE_TAG ";
    private static final String BARE_MARK = MARK.strip();

    private final String finalText;

    private FinalMessage(String finalText) {
      this.finalText = finalText;
    }

    /** Marks the last message. */
    static FinalMessage mark(List<Map<String, @Nullable Object>> messages) {
      Map<String, @Nullable Object> last = messages.get(messages.size() - 1);
      Object content = last.get("content");
      if (content instanceof String text) {
        last.put("content", text + MARK);
        return new FinalMessage(text);
      }
      if (content instanceof List<?> parts) {
        for (int i = parts.size() - 1; i >= 0; i--) {
          if (parts.get(i) instanceof Map<?, ?> part && part.get("text") instanceof String text) {
            @SuppressWarnings("unchecked")
            Map<String, Object> marked = (Map<String, Object>) part;
            marked.put("text", text + MARK);
            return new FinalMessage(text);
          }
        }
      }
      throw InexactPromptException.invalid("continue_final_message without a text to continue");
    }

    /** The output up to the mark. */
    String cut(String rendered) {
      int at = rendered.lastIndexOf(BARE_MARK);
      if (at < 0 || !rendered.contains(Whitespace.strip(finalText))) {
        throw new InexactPromptException(
            FallbackCause.TEMPLATE_ERROR, "the template changes the message to continue");
      }
      String before = rendered.substring(0, at);
      return rendered.startsWith(MARK, at) ? before : Whitespace.stripEnd(before);
    }
  }
}
