package dev.warmpath.tokenizer.sglang;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.BooleanNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.body.Fields;
import dev.warmpath.tokenizer.body.InexactPromptException;
import dev.warmpath.tokenizer.chat.JsonValues;
import dev.warmpath.tokenizer.template.ChatTemplate;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The arguments that a request and the engine's defaults give to the template. Unlike vLLM, null
 * replaces what stands behind it.
 */
final class SglangArguments {
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
