package dev.warmpath.tokenizer.sglang;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.BooleanNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.body.Fields;
import dev.warmpath.tokenizer.body.InexactPromptException;
import dev.warmpath.tokenizer.chat.ChatOptions;
import dev.warmpath.tokenizer.chat.ChatOptions.ContentFormat;
import dev.warmpath.tokenizer.chat.ChatTexts;
import dev.warmpath.tokenizer.chat.JsonValues;
import dev.warmpath.tokenizer.chat.TemplateError;
import dev.warmpath.tokenizer.image.ImageParts;
import dev.warmpath.tokenizer.template.ChatTemplate;
import dev.warmpath.tokenizer.template.syntax.TemplateException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Turns chat requests into the text that SGLang 0.5.23 tokenizes for them. What might come out
 * differently is not rendered: it is inexact, with a cause.
 *
 * <p>Thread-safe.
 */
public final class SglangRenderer implements ChatTexts {
  private static final String DEFAULT = "default";
  private static final String WITH_TOOLS = "tool_use";

  /** One of these in a template's source, and content reaches it as parts. */
  private static final List<String> MEDIA = List.of("image", "audio", "video", "vision");

  private final Map<String, ChatTemplate> templates;
  private final Map<String, ?> specialTokens;
  private final ChatOptions options;

  private SglangRenderer(
      Map<String, ChatTemplate> templates, Map<String, ?> specialTokens, ChatOptions options) {
    this.templates = Map.copyOf(templates);
    this.specialTokens = Map.copyOf(specialTokens);
    this.options = options;
  }

  /**
   * A renderer for a model's templates.
   *
   * @param sources the tokenizer's templates: {@code default} and {@code tool_use}; others are
   *     never asked for
   * @param specialTokens by the names that templates use, such as {@code bos_token}
   * @throws TemplateException when a template cannot be parsed
   */
  public static SglangRenderer of(
      Map<String, String> sources, Map<String, ?> specialTokens, ChatOptions options) {
    Map<String, ChatTemplate> templates = new HashMap<>();
    for (String name : List.of(DEFAULT, WITH_TOOLS)) {
      String source = sources.get(name);
      if (source != null) {
        templates.put(name, ChatTemplate.parse(source, options.clock(), options.limits()));
      }
    }
    return new SglangRenderer(templates, specialTokens, options);
  }

  @Override
  public String render(ObjectNode body) {
    return render(body, ImageParts.none());
  }

  @Override
  public String render(ObjectNode body, ImageParts images) {
    try {
      refuseOtherWays(body);
      return rendered(body, images);
    } catch (TemplateException e) {
      throw TemplateError.inexact(e);
    }
  }

  /** The fields that replace the messages, or add to them, by other means than the template. */
  private static void refuseOtherWays(ObjectNode body) {
    for (String field : List.of("input_ids", "session_params", "reasoning")) {
      if (body.hasNonNull(field)) {
        throw InexactPromptException.invalid(field + " is not read here");
      }
    }
  }

  private String rendered(ObjectNode body, ImageParts images) {
    List<Object> tools = SglangTools.read(body);
    SglangArguments arguments = SglangArguments.of(body, options.templates().defaultArguments());
    ChatTemplate template = template(tools != null);
    arguments.refuseIfRewrittenFor(template);
    List<Map<String, @Nullable Object>> messages =
        SglangEnding.apply(
            new SglangMessages(asParts(template), images).read(body),
            body.path("continue_final_message"));
    return render(template, messages, tools, arguments);
  }

  private ChatTemplate template(boolean withTools) {
    ChatTemplate chosen = withTools ? templates.get(WITH_TOOLS) : null;
    if (chosen == null) {
      chosen = templates.get(DEFAULT);
    }
    if (chosen == null) {
      throw new InexactPromptException(FallbackCause.NO_TEMPLATE, "the model has no chat template");
    }
    return chosen;
  }

  private boolean asParts(ChatTemplate template) {
    ContentFormat format = options.templates().contentFormat();
    return format == ContentFormat.AUTO
        ? MEDIA.stream().anyMatch(template::mentions) || template.iteratesContentByUsualName()
        : format == ContentFormat.OPENAI;
  }

  /** Renders; when the template fails, once more with the bare functions as tools. */
  private String render(
      ChatTemplate template,
      List<Map<String, @Nullable Object>> messages,
      @Nullable List<Object> tools,
      SglangArguments arguments) {
    Map<String, @Nullable Object> variables = new LinkedHashMap<>(specialTokens);
    variables.put("documents", null);
    arguments.addTo(variables);
    variables.put("messages", messages);
    variables.put("tools", tools);
    variables.put("add_generation_prompt", true);
    try {
      return template.render(variables);
    } catch (TemplateException e) {
      if (tools == null || e.kind() != TemplateException.Kind.RAISED) {
        throw e;
      }
      variables.put("tools", functionsOf(tools));
      return template.render(variables);
    }
  }

  private static List<@Nullable Object> functionsOf(List<Object> tools) {
    List<@Nullable Object> functions = new ArrayList<>(tools.size());
    for (Object tool : tools) {
      functions.add(((Map<?, ?>) tool).get("function"));
    }
    return functions;
  }

  /** What becomes of a chat whose last message is the assistant's. */
  private static final class SglangEnding {

    private SglangEnding() {}

    /** Makes it the user's, or takes it away when it is empty and was to be continued. */
    static List<Map<String, @Nullable Object>> apply(
        List<Map<String, @Nullable Object>> messages, JsonNode continues) {
      Fields.require(
          continues.isMissingNode() || continues.isBoolean(),
          "continue_final_message",
          "true or false");
      int last = messages.size() - 1;
      Map<String, @Nullable Object> message = messages.get(last);
      if (!"assistant".equals(message.get("role")) || !(message.get("content") instanceof String)) {
        return messages;
      }
      if (continues.booleanValue()) {
        if (!"".equals(message.get("content"))) {
          throw new InexactPromptException(
              FallbackCause.TEMPLATE_UNSUPPORTED, "the last message's tokens stand on their own");
        }
        return messages.subList(0, last);
      }
      Map<String, @Nullable Object> user = new LinkedHashMap<>();
      user.put("role", "user");
      user.put("content", message.get("content"));
      messages.set(last, user);
      return messages;
    }
  }

  /**
   * The arguments that a request and the engine's defaults give to the template. Unlike vLLM, null
   * replaces what stands behind it.
   */
  private static final class SglangArguments {
    private static final Set<String> EFFORTS =
        Set.of("none", "minimal", "low", "medium", "high", "xhigh", "ultra", "max");

    /** Names that the engine's own call of the template uses, or that steer that call. */
    private static final Set<String> NOT_READ =
        Set.of(
            "add_generation_prompt",
            "chat_template",
            "continue_final_message",
            "conversation",
            "conversations",
            "documents",
            "max_length",
            "messages",
            "padding",
            "return_assistant_tokens_mask",
            "return_dict",
            "return_tensors",
            "tokenize",
            "tokenizer_kwargs",
            "tools",
            "truncation");

    private final Map<String, JsonNode> merged;

    private SglangArguments(Map<String, JsonNode> merged) {
      this.merged = merged;
    }

    static SglangArguments of(ObjectNode body, ObjectNode defaults) {
      JsonNode given = Fields.objectOrAbsent(body, "chat_template_kwargs");
      Map<String, JsonNode> merged = new LinkedHashMap<>();
      given.properties().forEach(entry -> merged.put(entry.getKey(), entry.getValue()));
      JsonNode effort = body.path("reasoning_effort");
      if (!Fields.isAbsent(effort)) {
        putEffort(effort, merged);
      }
      defaults.properties().forEach(e -> merged.putIfAbsent(e.getKey(), e.getValue()));
      for (String name : merged.keySet()) {
        if (NOT_READ.contains(name)) {
          throw new InexactPromptException(
              FallbackCause.REQUEST_TEMPLATE, "template argument " + name);
        }
      }
      return new SglangArguments(merged);
    }

    private static void putEffort(JsonNode effort, Map<String, JsonNode> merged) {
      if (!effort.isTextual() || !EFFORTS.contains(effort.textValue())) {
        throw InexactPromptException.invalid("reasoning_effort is none of the known words");
      }
      BooleanNode thinks = BooleanNode.valueOf(!effort.textValue().equals("none"));
      merged.putIfAbsent("thinking", thinks);
      merged.putIfAbsent("enable_thinking", thinks);
      merged.putIfAbsent("reasoning_effort", effort);
    }

    /** Two families of templates get their effort by other names or in other words. */
    void refuseIfRewrittenFor(ChatTemplate template) {
      boolean rewritten =
          (template.mentions("no_think") && template.mentions("reasoning_effort"))
              || (template.mentions("low_effort") && merged.containsKey("reasoning_effort"));
      if (rewritten) {
        throw new InexactPromptException(
            FallbackCause.TEMPLATE_UNSUPPORTED, "the engine rewrites this model's effort");
      }
    }

    void addTo(Map<String, @Nullable Object> variables) {
      merged.forEach((name, value) -> variables.put(name, JsonValues.of(value)));
    }
  }
}
