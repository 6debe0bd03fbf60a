package dev.warmpath.simulator.recorded;

import dev.warmpath.eventingest.capture.CaptureRecord.Request;
import dev.warmpath.eventingest.capture.CaptureRecord.Response;
import dev.warmpath.kvindex.block.PromptKeys;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One request of a capture and what became of it. Immutable.
 *
 * @param order number of its record
 * @param settled number of the record by which all that it caused is recorded
 * @param quiet whether everything before it is recorded and had ended
 * @param response null if the capture ends before
 */
record RecordedRequest(
    long order, long settled, boolean quiet, Request request, @Nullable Response response) {

  private static final int LONGEST_ANSWER = 500;

  String id() {
    return request.requestId();
  }

  int[] prompt() {
    return Objects.requireNonNull(request.tokenIds(), request.requestId());
  }

  /** Whether the engine took it and answered it to the end. */
  boolean answered() {
    return response != null && Objects.equals(response.result().get("status"), 200L);
  }

  /** Tokens of its answer; many if its client left before the end, 0 if it was refused. */
  int answerTokens() {
    Object tokens = response == null ? null : response.result().get("completion_tokens");
    if (tokens instanceof Long count) {
      return answered() ? Math.toIntExact(count) : LONGEST_ANSWER;
    }
    return 0;
  }

  /** What the engine said that it reused; null if it did not say. */
  @Nullable Long cachedTokens() {
    return answered() && response != null ? response.cachedTokens() : null;
  }

  PromptKeys keys() {
    String extraKey = request.text("extra_key");
    String salt = request.text("cache_salt");
    boolean plain = extraKey == null && salt == null;
    return new PromptKeys(request.text("lora_name"), plain ? null : salt + "/" + extraKey);
  }

  boolean readsCache() {
    return request.body().get("prompt_logprobs") == null;
  }
}
