package dev.warmpath.router.logs;

import dev.warmpath.router.dispatch.Choice;
import dev.warmpath.router.dispatch.Prediction;
import dev.warmpath.router.dispatch.PreparedRequest;
import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.body.FallbackCause;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a capture says of a dispatched request: its token ids where one sequence of them is known,
 * and what the router thought of it.
 *
 * <p>Immutable.
 */
record CapturedRequest(PreparedRequest request, Choice choice, boolean capsLoads) {

  /** About as much as the record takes. */
  long bytes() {
    return request.prompt().result() instanceof PromptResult.Tokens tokens
        ? (long) Integer.BYTES * tokens.totalTokens()
        : 0;
  }

  Map<String, @Nullable Object> fields() {
    Map<String, @Nullable Object> fields = new LinkedHashMap<>();
    fields.put("model", request.model());
    if (!(request.prompt().result() instanceof PromptResult.Tokens tokens)) {
      fields.put("unread", fallback().label());
    } else if (tokens.hasImages()) {
      fields.put("unread", FallbackCause.MULTIMODAL.label()); // ids alone do not tell its blocks
    } else if (tokens.comparable()) {
      prompt(tokens, fields);
    } else {
      fields.put("unread", "not_comparable");
    }
    fields.put("policy", choice.policy());
    fields.put("reason", choice.reason());
    Prediction prediction = choice.prediction();
    boolean predicted = prediction.predicts();
    fields.put("predicted_cached_tokens", predicted ? (long) prediction.cachedTokens() : null);
    fields.put("prediction_basis", prediction.basis().label());
    return fields;
  }

  private void prompt(PromptResult.Tokens tokens, Map<String, @Nullable Object> fields) {
    fields.put("token_ids", new TokenList(tokens.sequences().get(0)));
    if (tokens.keys().loraName() != null) {
      fields.put("lora_name", tokens.keys().loraName());
    }
    if (tokens.keys().cacheSalt() != null) {
      fields.put("cache_salt", tokens.keys().cacheSalt());
    }
    if (tokens.extraKey() != null) {
      fields.put("extra_key", tokens.extraKey());
    }
    if (!tokens.readsCache()) {
      fields.put("reads_cache", false);
    }
    if (choice.pulled() != null) {
      fields.put("pulled_tokens", (long) choice.pulled().tokens());
    }
    if (capsLoads) {
      fields.put("reads_slow_tiers", false);
    }
  }

  private FallbackCause fallback() {
    return Objects.requireNonNullElse(request.prompt().fallback(), FallbackCause.NO_PROMPT);
  }
}
