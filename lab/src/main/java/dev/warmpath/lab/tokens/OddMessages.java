package dev.warmpath.lab.tokens;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/**
 * Makes odd bodies of {@code /v1/messages}.
 *
 * <p>Confined to its thread.
 */
final class OddMessages {
  private final Oddities odd;

  OddMessages(Oddities odd) {
    this.odd = odd;
  }

  ObjectNode body() {
    ObjectNode body = JsonNodeFactory.instance.objectNode().put("max_tokens", 2048);
    putSystem(body);
    ArrayNode messages = body.putArray("messages");
    for (int turn = odd.below(3); turn >= 0; turn--) {
      messages.addObject().put("role", "user").set("content", texts());
      if (turn > 0) {
        addAnswer(messages);
      }
      if (odd.chance(0.1)) {
        messages.addObject().put("role", "system").set("content", texts());
        messages.addObject().put("role", "user").put("content", odd.text());
      }
    }
    putTools(body);
    putThinking(body);
    return body;
  }

  private void putSystem(ObjectNode body) {
    if (odd.chance(0.5)) {
      body.set("system", texts());
    }
  }

  /** A text, or a list of blocks with texts. */
  private JsonNode texts() {
    if (odd.chance(0.5)) {
      return JsonNodeFactory.instance.textNode(odd.text());
    }
    ArrayNode blocks = JsonNodeFactory.instance.arrayNode();
    for (int i = odd.below(3); i >= 0; i--) {
      ObjectNode block = blocks.addObject().put("type", "text").put("text", odd.text());
      if (odd.chance(0.2)) {
        block.putObject("cache_control").put("type", "ephemeral");
      }
    }
    return blocks;
  }

  private void addAnswer(ArrayNode messages) {
    ObjectNode answer = messages.addObject().put("role", "assistant");
    if (odd.chance(0.4)) {
      answer.set("content", texts());
      return;
    }
    ArrayNode blocks = answer.putArray("content");
    if (odd.chance(0.4)) {
      blocks.addObject().put("type", "thinking").put("thinking", odd.text()).put("signature", "s");
    }
    if (odd.chance(0.1)) {
      blocks.addObject().put("type", "redacted_thinking").put("data", "x");
    }
    if (odd.chance(0.5)) {
      blocks.addObject().put("type", "text").put("text", odd.text());
    }
    if (odd.chance(0.1)) {
      ObjectNode result = blocks.addObject().put("type", "tool_result").put("tool_use_id", "t");
      result.putArray("content").addObject().put("type", "text").put("text", odd.text());
    }
    if (odd.chance(0.6)) {
      addCalls(messages, blocks);
    }
  }

  private void addCalls(ArrayNode messages, ArrayNode blocks) {
    ObjectNode next = JsonNodeFactory.instance.objectNode().put("role", "user");
    ArrayNode results = next.putArray("content");
    for (int i = odd.below(2); i >= 0; i--) {
      String id = odd.id();
      ObjectNode use = blocks.addObject().put("type", "tool_use").put("id", id);
      use.put("name", odd.name()).set("input", odd.arguments());
      ObjectNode result = results.addObject().put("type", "tool_result").put("tool_use_id", id);
      if (odd.chance(0.8)) {
        result.set("content", texts());
      }
    }
    if (odd.chance(0.4)) {
      results.insert(0, results.objectNode().put("type", "text").put("text", odd.text()));
    }
    messages.add(next);
  }

  private void putTools(ObjectNode body) {
    if (odd.chance(0.6)) {
      return;
    }
    ArrayNode tools = body.putArray("tools");
    for (int i = odd.below(4); i > 0; i--) {
      ObjectNode tool = tools.addObject().put("name", odd.name());
      tool.set("input_schema", odd.schema());
      if (odd.chance(0.7)) {
        tool.put("description", odd.text());
      }
      if (odd.chance(0.1)) {
        tool.put("defer_loading", true);
      }
      if (odd.chance(0.1)) {
        tool.put("strict", true);
      }
    }
    if (odd.chance(0.5)) {
      body.putObject("tool_choice").put("type", odd.oneOf(List.of("auto", "none")));
    }
  }

  private void putThinking(ObjectNode body) {
    if (odd.chance(0.3)) {
      ObjectNode thinking = body.putObject("thinking");
      thinking.put("type", odd.oneOf(List.of("enabled", "disabled", "adaptive")));
      if (thinking.get("type").asText().equals("enabled")) {
        thinking.put("budget_tokens", 1024);
      }
    }
    if (odd.chance(0.2)) {
      body.putObject("output_config").put("effort", odd.oneOf(List.of("low", "high", "max")));
    }
    if (odd.chance(0.15)) {
      body.putObject("chat_template_kwargs").put("enable_thinking", odd.chance(0.5));
    }
  }
}
