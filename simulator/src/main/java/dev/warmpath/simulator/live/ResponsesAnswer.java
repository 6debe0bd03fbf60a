package dev.warmpath.simulator.live;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

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
