package dev.warmpath.lab.tokens;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/**
 * Makes odd bodies of {@code /v1/chat/completions}.
 *
 * <p>Confined to its thread.
 */
final class OddChats {
  private static final List<String> EFFORTS =
      List.of("none", "minimal", "low", "medium", "high", "xhigh", "max");

  private final Oddities odd;

  OddChats(Oddities odd) {
    this.odd = odd;
  }

  ObjectNode body() {
    ObjectNode body = JsonNodeFactory.instance.objectNode();
    ArrayNode messages = body.putArray("messages");
    if (odd.chance(0.4)) {
      add(messages, odd.chance(0.3) ? "developer" : "system");
    }
    for (int turn = odd.below(3); turn >= 0; turn--) {
      add(messages, "user");
      if (turn > 0) {
        addAnswer(messages);
      }
    }
    if (odd.chance(0.08)) {
      add(messages, odd.oneOf(List.of("developer", "system")));
      add(messages, "user");
    }
    putTools(body);
    putArguments(body);
    putEnding(body, messages);
    return body;
  }

  private void add(ArrayNode messages, String role) {
    ObjectNode message = messages.addObject().put("role", role);
    putContent(message);
    if (odd.chance(0.1)) {
      message.put("name", "bob");
    }
  }

  private void putContent(ObjectNode message) {
    if (odd.chance(0.7)) {
      message.put("content", odd.text());
      return;
    }
    ArrayNode parts = message.putArray("content");
    for (int i = odd.below(3); i >= 0; i--) {
      ObjectNode part = parts.addObject().put("type", "text").put("text", odd.text());
      if (odd.chance(0.1)) {
        part.putObject("cache_control").put("type", "ephemeral");
      }
    }
  }

  private void addAnswer(ArrayNode messages) {
    ObjectNode answer = messages.addObject().put("role", "assistant");
    boolean calls = odd.chance(0.4);
    if (calls && odd.chance(0.5)) {
      answer.putNull("content");
    } else {
      putContent(answer);
    }
    if (odd.chance(0.3)) {
      answer.put(odd.chance(0.5) ? "reasoning" : "reasoning_content", odd.text());
    }
    if (!calls) {
      return;
    }
    ArrayNode made = answer.putArray("tool_calls");
    for (int i = odd.below(2); i >= 0; i--) {
      String id = odd.id();
      ObjectNode call = made.addObject().put("id", id).put("type", "function");
      String arguments = odd.chance(0.05) ? "{not json" : odd.arguments().toString();
      call.putObject("function").put("name", odd.name()).put("arguments", arguments);
    }
    made.forEach(call -> {
      ObjectNode result = messages.addObject().put("role", "tool");
      result.set("tool_call_id", call.get("id"));
      putContent(result);
    });
  }

  private void putTools(ObjectNode body) {
    if (odd.chance(0.6)) {
      return;
    }
    ArrayNode tools = body.putArray("tools");
    for (int i = odd.below(3); i >= 0; i--) {
      ObjectNode tool = tools.addObject().put("type", "function");
      ObjectNode function = tool.putObject("function");
      if (odd.chance(0.5)) {
        function.set("parameters", odd.schema());
      }
      function.put("name", odd.name());
      if (odd.chance(0.7)) {
        function.put("description", odd.text());
      }
      if (odd.chance(0.2)) {
        function.put("strict", odd.chance(0.5));
      }
      if (odd.chance(0.1)) {
        (odd.chance(0.5) ? tool : function).put("defer_loading", odd.chance(0.5));
      }
    }
    if (odd.chance(0.5)) {
      body.put("tool_choice", odd.oneOf(List.of("auto", "none")));
    }
  }

  private void putArguments(ObjectNode body) {
    if (odd.chance(0.3)) {
      body.put("reasoning_effort", odd.oneOf(EFFORTS));
    }
    if (odd.chance(0.3)) {
      ObjectNode arguments = body.putObject("chat_template_kwargs");
      if (odd.chance(0.7)) {
        arguments.put("enable_thinking", odd.chance(0.5));
      }
      if (odd.chance(0.2)) {
        arguments.put("date_string", "1 Jan 2026").putNull("custom_tools");
      }
      if (odd.chance(0.1)) {
        arguments.put("tools_in_user_message", odd.chance(0.5));
      }
    }
  }

  private void putEnding(ObjectNode body, ArrayNode messages) {
    if (odd.chance(0.08)) {
      body.put("add_generation_prompt", false);
    }
    if (odd.chance(0.1)) {
      messages.addObject().put("role", "assistant").put("content", "So " + odd.text());
      if (odd.chance(0.8)) {
        body.put("continue_final_message", true).put("add_generation_prompt", false);
      }
    }
    if (odd.chance(0.05)) {
      body.put("add_special_tokens", true);
    }
    if (odd.chance(0.05)) {
      body.put("truncate_prompt_tokens", 10 + odd.below(50));
    }
  }
}
