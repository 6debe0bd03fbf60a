package dev.warmpath.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.PromptResult.Inexact;
import dev.warmpath.tokenizer.PromptResult.Tokens;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Whatever a client sends, a prompt is tokens or a reason, never an exception. */
class PromptFuzzTest {

  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
  private static final ModelTokenizer TOKENIZER = ModelTokenizer.embedded();

  private static final List<String> FIELDS =
      List.of(
          "prompt",
          "messages",
          "tools",
          "role",
          "content",
          "type",
          "text",
          "n",
          "best_of",
          "echo",
          "logprobs",
          "cache_salt",
          "truncate_prompt_tokens",
          "truncation_side",
          "add_special_tokens",
          "prompt_logprobs",
          "kv_transfer_params",
          "chat_template_kwargs",
          "tool_calls",
          "function",
          "arguments",
          "add_generation_prompt",
          "continue_final_message",
          "system",
          "max_tokens",
          "thinking",
          "output_config",
          "tool_choice",
          "input_schema",
          "name",
          "input",
          "instructions",
          "reasoning",
          "summary",
          "output",
          "call_id",
          "status");

  @Property(tries = 300)
  void anyBodyGivesTokensOrAReason(@ForAll RequestKind kind, @ForAll("bodies") ObjectNode body) {
    PromptResult result = TOKENIZER.prompt(kind, body, null);
    if (result instanceof Tokens tokens) {
      assertThat(tokens.sequences()).noneMatch(ids -> ids.length == 0);
    } else {
      assertThat(((Inexact) result).detail()).isNotBlank();
    }
  }

  @Provide
  Arbitrary<ObjectNode> bodies() {
    return object(values(3)).map(ObjectNode.class::cast);
  }

  private static Arbitrary<JsonNode> values(int depth) {
    Arbitrary<JsonNode> scalar =
        Arbitraries.oneOf(
            Arbitraries.of(JSON.nullNode(), JSON.booleanNode(true), JSON.numberNode(1.0)),
            Arbitraries.of(
                    "user",
                    "system",
                    "assistant",
                    "left",
                    "text",
                    "{}",
                    "",
                    "tool_use",
                    "tool_result",
                    "thinking",
                    "disabled",
                    "message",
                    "function_call",
                    "input_text",
                    "output_text",
                    "reasoning",
                    "function_call_output",
                    "in_progress")
                .map(JSON::textNode),
            Arbitraries.strings().ofMaxLength(5).map(JSON::textNode),
            Arbitraries.integers().between(-2, 3_100).map(JSON::numberNode),
            Arbitraries.longs().map(JSON::numberNode));
    if (depth == 0) {
      return scalar;
    }
    Arbitrary<JsonNode> inner = values(depth - 1);
    Arbitrary<JsonNode> list =
        inner.list().ofMaxSize(3).map(nodes -> JSON.arrayNode().addAll(nodes));
    return Arbitraries.oneOf(scalar, list, object(inner));
  }

  private static Arbitrary<JsonNode> object(Arbitrary<JsonNode> values) {
    return Arbitraries.maps(Arbitraries.of(FIELDS), values)
        .ofMaxSize(4)
        .map((Map<String, JsonNode> fields) -> JSON.objectNode().setAll(fields));
  }
}
