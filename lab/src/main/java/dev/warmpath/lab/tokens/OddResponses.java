package dev.warmpath.lab.tokens;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/**
 * Makes odd bodies of {@code /v1/responses}.
 *
 * <p>Confined to its thread.
 */
final class OddResponses {
  private final Oddities odd;

  OddResponses(Oddities odd) {
    this.odd = odd;
  }

  ObjectNode body() {
    ObjectNode body = JsonNodeFactory.instance.objectNode();
    if (odd.chance(0.4)) {
      body.put("instructions", odd.text());
    }
    if (odd.chance(0.15)) {
      body.put("input", odd.text());
    } else {
      addItems(body.putArray("input"));
    }
    putTools(body);
    if (odd.chance(0.3)) {
      body.putObject("reasoning").put("effort", odd.oneOf(List.of("none", "low", "high")));
    }
    if (odd.chance(0.2)) {
      body.putObject("chat_template_kwargs").put("enable_thinking", odd.chance(0.5));
    }
    return body;
  }

  private void addItems(ArrayNode input) {
    if (odd.chance(0.2)) {
      input.addObject().put("role", "developer").put("content", odd.text());
    }
    for (int turn = odd.below(3); turn >= 0; turn--) {
      addUser(input);
      if (turn > 0) {
        addAnswer(input);
      }
    }
    if (odd.chance(0.1)) {
      ObjectNode last = addOutput(input, "So " + odd.text());
      last.put("status", odd.oneOf(List.of("in_progress", "incomplete", "completed")));
    }
  }

  private void addUser(ArrayNode input) {
    ObjectNode item = input.addObject().put("role", "user");
    if (odd.chance(0.3)) {
      item.put("type", "message");
    }
    if (odd.chance(0.6)) {
      item.put("content", odd.text());
      return;
    }
    ArrayNode parts = item.putArray("content");
    for (int i = odd.below(3); i >= 0; i--) {
      parts.addObject().put("type", "input_text").put("text", odd.text());
    }
  }

  private void addAnswer(ArrayNode input) {
    if (odd.chance(0.4)) {
      ObjectNode reasoning = input.addObject().put("type", "reasoning");
      ArrayNode summary = reasoning.putArray("summary");
      if (odd.chance(0.5)) {
        summary.addObject().put("type", "summary_text").put("text", odd.text());
      } else {
        reasoning
            .putArray("content")
            .addObject()
            .put("type", "reasoning_text")
            .put("text", odd.text());
      }
    }
    switch (odd.below(4)) {
      case 0 -> input.addObject().put("role", "assistant").put("content", odd.text());
      case 1, 2 -> addOutput(input, odd.text());
      default -> {}
    }
    if (odd.chance(0.5)) {
      addCalls(input);
    }
  }

  private ObjectNode addOutput(ArrayNode input, String text) {
    ObjectNode item = input.addObject().put("type", "message").put("role", "assistant");
    ArrayNode parts = item.putArray("content");
    parts.addObject().put("type", "output_text").put("text", text);
    if (odd.chance(0.2)) {
      parts.addObject().put("type", "output_text").put("text", "second");
    }
    return item;
  }

  private void addCalls(ArrayNode input) {
    for (int i = odd.below(2); i >= 0; i--) {
      String id = odd.id();
      input
          .addObject()
          .put("type", "function_call")
          .put("call_id", id)
          .put("name", odd.name())
          .put("arguments", odd.chance(0.05) ? "{not json" : odd.arguments().toString());
      ObjectNode output = input.addObject().put("type", "function_call_output").put("call_id", id);
      if (odd.chance(0.7)) {
        output.put("output", odd.text());
      } else {
        output.putArray("output").addObject().put("type", "input_text").put("text", odd.text());
      }
    }
  }

  private void putTools(ObjectNode body) {
    if (odd.chance(0.6)) {
      return;
    }
    ArrayNode tools = body.putArray("tools");
    for (int i = odd.below(3); i >= 0; i--) {
      ObjectNode tool = tools.addObject();
      if (odd.chance(0.15)) {
        tool.put("type", "custom").put("name", odd.name()).put("description", odd.text());
      } else {
        tool.put("type", "function").put("name", odd.name());
        tool.set("parameters", odd.chance(0.9) ? odd.schema() : tool.nullNode());
        tool.put("strict", odd.chance(0.5));
        tool.put("description", odd.text());
      }
    }
    if (odd.chance(0.5)) {
      body.put("tool_choice", odd.oneOf(List.of("auto", "none")));
    }
  }
}
