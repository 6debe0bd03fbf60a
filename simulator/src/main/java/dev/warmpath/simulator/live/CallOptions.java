package dev.warmpath.simulator.live;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.simulator.engine.EngineRequest;
import dev.warmpath.tokenizer.RequestKind;
import org.jspecify.annotations.Nullable;

/**
 * What a completion request asks for besides its prompt.
 *
 * @param maxTokens limit of the answer, 0 for none
 * @param minTokens at least so many, or as many as {@code maxTokens} with {@code ignore_eos}
 * @param mostLoadTokens that a prompt loads from host memory ({@code max_load_tokens})
 */
record CallOptions(
    RequestKind kind,
    String model,
    boolean stream,
    boolean includeUsage,
    boolean returnTokenIds,
    int maxTokens,
    int minTokens,
    int mostLoadTokens) {

  private static final int DEFAULT_COMPLETION_TOKENS = 16;

  static CallOptions read(RequestKind kind, ObjectNode body, SimulatedModel served) {
    int maxTokens = maxTokens(kind, body);
    int minTokens = body.path("min_tokens").asInt(0);
    if (maxTokens > 0 && minTokens > maxTokens) {
      throw ApiException.badRequest(
          "min_tokens must be less than or equal to max_tokens=%d, got %d."
              .formatted(maxTokens, minTokens),
          "min_tokens");
    }
    boolean ignoresEnd = body.path("ignore_eos").asBoolean(false);
    if (body.path("n").asInt(1) != 1) {
      throw ApiException.badRequest("n must be 1 here", "n");
    }
    return new CallOptions(
        kind,
        body.path("model").asText(served.name()),
        body.path("stream").asBoolean(false),
        body.path("stream_options").path("include_usage").asBoolean(false),
        body.path("return_token_ids").asBoolean(false),
        maxTokens,
        ignoresEnd ? maxTokens : minTokens,
        mostLoadTokens(body.path("kv_transfer_params").path("max_load_tokens")));
  }

  /** Like vLLM, ignores what is no such number. */
  private static int mostLoadTokens(JsonNode cap) {
    boolean isCap = cap.isIntegralNumber() && cap.canConvertToInt() && cap.intValue() >= 0;
    return isCap ? cap.intValue() : EngineRequest.NO_CAP;
  }

  private static int maxTokens(RequestKind kind, ObjectNode body) {
    JsonNode limit = body.path("max_tokens");
    if (kind == RequestKind.CHAT && body.hasNonNull("max_completion_tokens")) {
      limit = body.path("max_completion_tokens");
    } else if (kind == RequestKind.RESPONSES) {
      limit = body.path("max_output_tokens");
    }
    if (limit.isMissingNode() || limit.isNull()) {
      return kind == RequestKind.COMPLETION ? DEFAULT_COMPLETION_TOKENS : 0;
    }
    if (!limit.isIntegralNumber() || limit.asInt() < 1) {
      throw ApiException.badRequest("max_tokens must be at least 1", "max_tokens");
    }
    return limit.asInt();
  }

  /** How many tokens the answer to a prompt of this length may have. */
  int answerLimit(int promptTokens, int maxModelTokens) {
    int room = maxModelTokens - promptTokens;
    if (room < Math.max(1, maxTokens)) {
      throw ApiException.badRequest(
          "This model's maximum context length is %d tokens. The prompt has %d and the answer up to %d."
              .formatted(maxModelTokens, promptTokens, Math.max(1, maxTokens)),
          null);
    }
    return maxTokens == 0 ? room : maxTokens;
  }

  @Nullable String adapter(SimulatedModel served) {
    return served.adapterOf(model);
  }
}
