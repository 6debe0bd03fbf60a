package dev.warmpath.simulator.live;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.RequestKind;
import org.jspecify.annotations.Nullable;

/**
 * Writes answers as vLLM does, whole or chunk by chunk.
 *
 * <p>Immutable.
 */
final class AnswerJson {

  private final CallOptions options;
  private final String id;
  private final long createdSeconds;

  AnswerJson(CallOptions options, String id, long createdSeconds) {
    this.options = options;
    this.id = id;
    this.createdSeconds = createdSeconds;
  }

  /** The form of answers that are no chats and no completions, or null. */
  @Nullable EventAnswer events() {
    return switch (options.kind()) {
      case MESSAGES -> new EventAnswer.MessagesAnswer(id, options.model());
      case RESPONSES -> new EventAnswer.ResponsesAnswer(id, options.model(), createdSeconds);
      case CHAT, COMPLETION -> null;
    };
  }

  /** The chunk before a chat's first text. */
  ObjectNode opening(int choice, int[] prompt) {
    ObjectNode chunk = frame(true);
    if (options.returnTokenIds()) {
      tokens(chunk.putArray("prompt_token_ids"), prompt);
    }
    ObjectNode body = choice(chunk, choice, null);
    body.putObject("delta").put("role", "assistant").put("content", "");
    return chunk;
  }

  /** One piece of text. */
  ObjectNode piece(int choice, String text, int tokenId, @Nullable String finish) {
    ObjectNode chunk = frame(true);
    ObjectNode body = choice(chunk, choice, finish);
    if (chat()) {
      body.putObject("delta").put("content", text);
    } else {
      body.put("text", text);
    }
    if (options.returnTokenIds()) {
      body.putArray("token_ids").add(tokenId);
    }
    return chunk;
  }

  /** The chunk that tells the usage. */
  ObjectNode usageChunk(Usage usage) {
    ObjectNode chunk = frame(true);
    chunk.putArray("choices");
    usage(chunk, usage);
    return chunk;
  }

  /** A whole answer, to which {@link #whole} adds choices. */
  ObjectNode answer(Usage usage) {
    ObjectNode answer = frame(false);
    answer.putArray("choices");
    usage(answer, usage);
    return answer;
  }

  void whole(ObjectNode answer, int choice, String text, String finish) {
    ObjectNode body = choice(answer, choice, finish);
    if (chat()) {
      body.putObject("message").put("role", "assistant").put("content", text);
    } else {
      body.put("text", text);
    }
  }

  /** Adds token ids to the choice added last, where they were asked for. */
  void tokenIds(ObjectNode answer, int[] prompt, int[] generated) {
    if (!options.returnTokenIds()) {
      return;
    }
    ArrayNode choices = answer.withArray("choices");
    ObjectNode body = (ObjectNode) choices.get(choices.size() - 1);
    tokens(body.putArray("token_ids"), generated);
    tokens((chat() ? answer : body).putArray("prompt_token_ids"), prompt);
  }

  /** What a request cost. */
  record Usage(int promptTokens, int completionTokens, int cachedTokens) {}

  private boolean chat() {
    return options.kind() == RequestKind.CHAT;
  }

  private ObjectNode frame(boolean chunk) {
    String object = chat() ? "chat.completion" + (chunk ? ".chunk" : "") : "text_completion";
    return JsonNodeFactory.instance
        .objectNode()
        .put("id", id)
        .put("object", object)
        .put("created", createdSeconds)
        .put("model", options.model());
  }

  private static ObjectNode choice(ObjectNode frame, int index, @Nullable String finish) {
    return frame
        .withArray("choices")
        .addObject()
        .put("index", index)
        .putNull("logprobs")
        .put("finish_reason", finish);
  }

  private static void usage(ObjectNode frame, Usage usage) {
    ObjectNode body = frame.putObject("usage");
    body.put("prompt_tokens", usage.promptTokens());
    body.put("total_tokens", usage.promptTokens() + usage.completionTokens());
    body.put("completion_tokens", usage.completionTokens());
    body.putObject("prompt_tokens_details").put("cached_tokens", usage.cachedTokens());
  }

  private static void tokens(ArrayNode array, int[] tokenIds) {
    for (int tokenId : tokenIds) {
      array.add(tokenId);
    }
  }
}
