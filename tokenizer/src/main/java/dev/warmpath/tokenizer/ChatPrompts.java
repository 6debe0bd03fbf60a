package dev.warmpath.tokenizer;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.PromptResult.Inexact;
import dev.warmpath.tokenizer.PromptResult.Reason;
import dev.warmpath.tokenizer.files.ModelFiles;
import dev.warmpath.tokenizer.template.ChatTemplate;
import dev.warmpath.tokenizer.template.limit.TemplateException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The chats of one model: plain texts of system, user and assistant become one text through the
 * model's template. Everything else is refused.
 *
 * <p>Thread-safe.
 */
final class ChatPrompts {

  /** A rendered chat, or why there is none. */
  sealed interface Rendering {
    record Text(String text) implements Rendering {}

    record Refused(Inexact why) implements Rendering {}
  }

  /** Fields that may change what the template is given. */
  private static final Set<String> SHAPING =
      Set.of(
          "tools",
          "functions",
          "chat_template",
          "chat_template_kwargs",
          "documents",
          "reasoning_effort",
          "reasoning",
          "add_generation_prompt",
          "continue_final_message",
          "mm_processor_kwargs",
          "response_format",
          "structured_outputs");

  private static final Set<String> ROLES = Set.of("system", "user", "assistant");
  private static final Set<String> MESSAGE_FIELDS = Set.of("role", "content");

  private final Map<String, String> specialTokens;
  private final @Nullable ChatTemplate template;
  private final @Nullable Inexact refusal;

  private ChatPrompts(
      Map<String, String> specialTokens,
      @Nullable ChatTemplate template,
      @Nullable Inexact refusal) {
    this.specialTokens = specialTokens;
    this.template = template;
    this.refusal = refusal;
  }

  static ChatPrompts of(ModelFiles files) {
    if (files.rendersChatInCode()) {
      return refusing(files, Reason.UNSUPPORTED_MODEL, "rendered by the engine's own code");
    }
    String source = files.templates().choose(false);
    if (source == null) {
      return refusing(files, Reason.NO_TEMPLATE, "the model has no chat template");
    }
    try {
      return new ChatPrompts(files.specialTokens(), ChatTemplate.parse(source), null);
    } catch (TemplateException e) {
      return refusing(files, Reason.TEMPLATE_ERROR, String.valueOf(e.getMessage()));
    }
  }

  Rendering render(ObjectNode body) {
    if (template == null || refusal != null) {
      return new Rendering.Refused(
          refusal == null ? new Inexact(Reason.NO_TEMPLATE, "no template") : refusal);
    }
    for (String field : SHAPING) {
      if (body.hasNonNull(field)) {
        return refused(Reason.UNSUPPORTED_REQUEST, field + " is not rendered here");
      }
    }
    List<Object> messages = new ArrayList<>();
    for (JsonNode message : body.path("messages")) {
      if (!isPlain(message)) {
        return refused(Reason.UNSUPPORTED_REQUEST, "a message that is more than role and text");
      }
      messages.add(message(message, template.iteratesContent()));
    }
    return render(template, messages);
  }

  private Rendering render(ChatTemplate chosen, List<Object> messages) {
    if (messages.isEmpty()) {
      return refused(Reason.INVALID_REQUEST, "messages must be a list of at least one");
    }
    Map<String, @Nullable Object> variables = new HashMap<>(specialTokens);
    variables.put("messages", messages);
    variables.put("tools", null);
    variables.put("documents", null);
    variables.put("add_generation_prompt", true);
    try {
      return new Rendering.Text(chosen.render(variables));
    } catch (TemplateException e) {
      return refused(Reason.TEMPLATE_ERROR, e.kind() + " at line " + e.line());
    }
  }

  private static Map<String, Object> message(JsonNode message, boolean inParts) {
    String text = message.path("content").textValue();
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("role", message.path("role").textValue());
    fields.put("content", inParts ? List.of(part(text)) : text);
    return fields;
  }

  private static Map<String, Object> part(String text) {
    Map<String, Object> part = new LinkedHashMap<>();
    part.put("type", "text");
    part.put("text", text);
    return part;
  }

  private static boolean isPlain(JsonNode message) {
    JsonNode content = message.path("content");
    return message.path("role").isTextual()
        && ROLES.contains(message.path("role").textValue())
        && content.isTextual()
        && !content.textValue().startsWith("x-anthropic-billing-header")
        && message.properties().stream()
            .allMatch(
                field -> MESSAGE_FIELDS.contains(field.getKey()) || field.getValue().isNull());
  }

  private static ChatPrompts refusing(ModelFiles files, Reason reason, String detail) {
    return new ChatPrompts(files.specialTokens(), null, new Inexact(reason, detail));
  }

  private static Rendering.Refused refused(Reason reason, String detail) {
    return new Rendering.Refused(new Inexact(reason, detail));
  }
}
