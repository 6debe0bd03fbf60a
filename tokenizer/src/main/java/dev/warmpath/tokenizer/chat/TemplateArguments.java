package dev.warmpath.tokenizer.chat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.BooleanNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.body.Fields;
import dev.warmpath.tokenizer.body.InexactPromptException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The arguments that a request and the engine's defaults give to the template, merged as the engine
 * merges them: null and "auto" never replace anything.
 *
 * <p>Immutable.
 */
public final class TemplateArguments {
  private static final Set<String> EFFORTS =
      Set.of("none", "minimal", "low", "medium", "high", "xhigh", "max");

  /** Names that the engine's own call of the template uses, so that giving them fails. */
  private static final Set<String> FORBIDDEN =
      Set.of(
          "conversation",
          "conversations",
          "messages",
          "model_config",
          "return_assistant_tokens_mask",
          "tokenizer");

  /** Names that steer the call of the template and never reach it. */
  private static final Set<String> CONSUMED =
      Set.of(
          "add_generation_prompt",
          "chat_template",
          "continue_final_message",
          "documents",
          "max_length",
          "padding",
          "return_dict",
          "return_tensors",
          "tokenize",
          "tokenizer_kwargs",
          "tools",
          "truncation");

  private final Map<String, JsonNode> merged;

  private TemplateArguments(Map<String, JsonNode> merged) {
    this.merged = merged;
  }

  static TemplateArguments of(ObjectNode body, ChatOptions.Templates options) {
    JsonNode given = Fields.objectOrAbsent(body, "chat_template_kwargs");
    boolean own = body.hasNonNull("chat_template") && !options.trustsRequests();
    if (own || given.hasNonNull("chat_template")) {
      throw new InexactPromptException(
          FallbackCause.REQUEST_TEMPLATE, "the request has a template");
    }
    Map<String, JsonNode> merged = new LinkedHashMap<>();
    options.defaultArguments().properties().forEach(e -> merged.put(e.getKey(), e.getValue()));
    Map<String, JsonNode> asked = new LinkedHashMap<>();
    given.properties().forEach(e -> asked.put(e.getKey(), e.getValue()));
    putFields(body, given, options, asked);
    asked.forEach((name, value) -> putIfSet(merged, name, value));
    return new TemplateArguments(checked(merged));
  }

  private static void putFields(
      ObjectNode body, JsonNode given, ChatOptions.Templates options, Map<String, JsonNode> own) {
    putIfSet(own, "add_generation_prompt", flag(body, "add_generation_prompt", true));
    putIfSet(own, "continue_final_message", flag(body, "continue_final_message", false));
    putIfSet(own, "documents", documents(body.path("documents")));
    JsonNode effort = body.path("reasoning_effort");
    if (Fields.isAbsent(effort)) {
      return;
    }
    if (!effort.isTextual() || !EFFORTS.contains(effort.textValue())) {
      throw InexactPromptException.invalid("reasoning_effort is none of " + EFFORTS);
    }
    String taken = options.effort(effort.textValue());
    own.put("reasoning_effort", TextNode.valueOf(taken));
    if (!given.has("enable_thinking")) {
      own.put("enable_thinking", BooleanNode.valueOf(!"none".equals(taken)));
    }
  }

  private static JsonNode flag(ObjectNode body, String field, boolean absent) {
    JsonNode value = body.path(field);
    if (value.isMissingNode()) {
      return BooleanNode.valueOf(absent);
    }
    if (!value.isBoolean()) {
      throw InexactPromptException.invalid(field + " is not true or false");
    }
    return value;
  }

  private static JsonNode documents(JsonNode documents) {
    for (JsonNode document : documents) {
      for (JsonNode value : document) {
        if (!value.isTextual()) {
          throw InexactPromptException.invalid("documents hold something that is not text");
        }
      }
    }
    return documents;
  }

  private static void putIfSet(Map<String, JsonNode> map, String name, JsonNode value) {
    boolean unset = Fields.isAbsent(value) || "auto".equals(value.textValue());
    if (!unset) {
      map.put(name, value);
    }
  }

  private static Map<String, JsonNode> checked(Map<String, JsonNode> merged) {
    for (String name : merged.keySet()) {
      if (FORBIDDEN.contains(name)) {
        throw new InexactPromptException(
            FallbackCause.REQUEST_TEMPLATE, "template argument " + name);
      }
    }
    JsonNode tokenize = merged.get("tokenize");
    if (tokenize != null && !tokenize.equals(BooleanNode.FALSE)) {
      throw new InexactPromptException(
          FallbackCause.REQUEST_TEMPLATE, "template argument tokenize");
    }
    if (merged.containsKey("chat_template")) {
      throw new InexactPromptException(FallbackCause.REQUEST_TEMPLATE, "a template by default");
    }
    return merged;
  }

  boolean addsGenerationPrompt() {
    return isSet("add_generation_prompt");
  }

  boolean continuesFinalMessage() {
    return isSet("continue_final_message");
  }

  private boolean isSet(String name) {
    JsonNode value = merged.get(name);
    return value != null && value.booleanValue();
  }

  /** Whether an argument of this name is given, be it null. */
  public boolean has(String name) {
    return merged.containsKey(name);
  }

  /** The argument as a value of templates; null if it is not given. */
  public @Nullable Object value(String name) {
    JsonNode value = merged.get(name);
    return value == null ? null : JsonValues.of(value);
  }

  /** A list that replaces the request's own, or null. */
  @Nullable Object tools() {
    return objects("tools");
  }

  @Nullable Object documents() {
    return objects("documents");
  }

  private @Nullable Object objects(String name) {
    JsonNode value = merged.get(name);
    if (value == null) {
      return null;
    }
    boolean valid = value.isArray();
    for (JsonNode item : value) {
      valid &= item.isObject();
    }
    if (!valid) {
      throw InexactPromptException.invalid(name + " is not a list of objects");
    }
    return JsonValues.of(value);
  }

  /** Adds what the template reads of the rest; it replaces special tokens of the same name. */
  void addTo(Map<String, @Nullable Object> variables, Set<String> readByTemplate) {
    merged.forEach((name, value) -> {
      if (!CONSUMED.contains(name) && readByTemplate.contains(name)) {
        variables.put(name, JsonValues.of(value));
      }
    });
  }
}
