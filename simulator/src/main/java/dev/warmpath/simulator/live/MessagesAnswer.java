package dev.warmpath.simulator.live;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

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
