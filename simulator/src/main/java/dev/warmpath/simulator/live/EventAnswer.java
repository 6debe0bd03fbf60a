package dev.warmpath.simulator.live;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** Writes an answer of one sequence whose stream is made of named events. Immutable. */
interface EventAnswer {

  /** The events before the first text. */
  String opening(AnswerJson.Usage usage);

  /** The event for a piece of text. */
  String piece(String text);

  /** The events after the last text. */
  String closing(String text, String finish, AnswerJson.Usage usage);

  /** The whole answer. */
  ObjectNode whole(String text, String finish, AnswerJson.Usage usage);

  /** One event as it is sent. */
  static String event(ObjectNode data) {
    return "event: " + data.path("type").asText() + "\ndata: " + data + "\n\n";
  }

  /** Answers of {@code /v1/messages} as vLLM writes them. */
  record MessagesAnswer(String id, String model) implements EventAnswer {

    @Override
    public String opening(AnswerJson.Usage usage) {
      ObjectNode start = typed("message_start");
      ObjectNode message = start.putObject("message");
      message.put("id", id).putArray("content");
      message.put("type", "message").put("role", "assistant").put("model", model);
      putUsage(message, usage);
      ObjectNode block = typed("content_block_start").put("index", 0);
      block.putObject("content_block").put("type", "text").put("text", "");
      return EventAnswer.event(start) + EventAnswer.event(block);
    }

    @Override
    public String piece(String text) {
      ObjectNode delta = typed("content_block_delta").put("index", 0);
      delta.putObject("delta").put("type", "text_delta").put("text", text);
      return EventAnswer.event(delta);
    }

    @Override
    public String closing(String text, String finish, AnswerJson.Usage usage) {
      ObjectNode delta = typed("message_delta");
      delta.putObject("delta").put("stop_reason", stopReason(finish));
      putUsage(delta, usage);
      return EventAnswer.event(typed("content_block_stop").put("index", 0))
          + EventAnswer.event(delta)
          + EventAnswer.event(typed("message_stop"));
    }

    @Override
    public ObjectNode whole(String text, String finish, AnswerJson.Usage usage) {
      ObjectNode message = typed("message").put("id", id).put("role", "assistant");
      message.putArray("content").addObject().put("type", "text").put("text", text);
      message.put("model", model).put("stop_reason", stopReason(finish));
      putUsage(message, usage);
      return message;
    }

    private static String stopReason(String finish) {
      return finish.equals("length") ? "max_tokens" : "end_turn";
    }

    private static ObjectNode typed(String type) {
      return JsonNodeFactory.instance.objectNode().put("type", type);
    }

    private static void putUsage(ObjectNode owner, AnswerJson.Usage usage) {
      owner
          .putObject("usage")
          .put("input_tokens", usage.promptTokens() - usage.cachedTokens())
          .put("output_tokens", usage.completionTokens())
          .put("cache_read_input_tokens", usage.cachedTokens());
    }
  }

  /**
   * Answers of {@code /v1/responses} as vLLM writes them, without the events that only tell what
   * comes next.
   */
  record ResponsesAnswer(String id, String model, long createdSeconds) implements EventAnswer {

    @Override
    public String opening(AnswerJson.Usage usage) {
      ObjectNode created = typed("response.created");
      created.set("response", response("in_progress"));
      return EventAnswer.event(created);
    }

    @Override
    public String piece(String text) {
      return EventAnswer.event(
          typed("response.output_text.delta").put("output_index", 0).put("delta", text));
    }

    @Override
    public String closing(String text, String finish, AnswerJson.Usage usage) {
      ObjectNode completed = typed("response.completed");
      completed.set("response", whole(text, finish, usage));
      return EventAnswer.event(completed);
    }

    @Override
    public ObjectNode whole(String text, String finish, AnswerJson.Usage usage) {
      String status = finish.equals("length") ? "incomplete" : "completed";
      ObjectNode response = response(status);
      ObjectNode item = response.withArray("output").addObject();
      item.put("type", "message").put("id", "msg_" + id).put("role", "assistant");
      item.put("status", status);
      item.putArray("content").addObject().put("type", "output_text").put("text", text);
      ObjectNode used = response.putObject("usage").put("input_tokens", usage.promptTokens());
      used.putObject("input_tokens_details").put("cached_tokens", usage.cachedTokens());
      used.put("output_tokens", usage.completionTokens());
      used.put("total_tokens", usage.promptTokens() + usage.completionTokens());
      return response;
    }

    private ObjectNode response(String status) {
      ObjectNode response = JsonNodeFactory.instance.objectNode().put("id", id);
      response.put("object", "response").put("created_at", createdSeconds).put("model", model);
      response.putArray("output");
      return response.put("status", status);
    }

    private static ObjectNode typed(String type) {
      return JsonNodeFactory.instance.objectNode().put("type", type);
    }
  }
}
