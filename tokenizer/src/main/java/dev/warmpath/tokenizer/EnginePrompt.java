package dev.warmpath.tokenizer;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.tokenizer.PromptResult.Inexact;
import dev.warmpath.tokenizer.PromptResult.Reason;
import dev.warmpath.tokenizer.PromptResult.Tokens;
import dev.warmpath.tokenizer.body.HiddenNamespace;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A prompt whose tokens an engine said, with what the request itself says about it.
 *
 * <p>Immutable.
 */
public final class EnginePrompt {

  private EnginePrompt() {}

  /**
   * The prompt of the request {@code body}.
   *
   * @param loraName the adapter that the request's model name stands for, or null
   * @param tokenIds what the engine makes of it, not to be changed
   */
  public static PromptResult of(
      RequestKind kind, ObjectNode body, @Nullable String loraName, int[] tokenIds) {
    RequestFields fields = new RequestFields(body);
    PromptOptions options = PromptOptions.read(kind, fields);
    String problem = fields.problem();
    if (problem != null || tokenIds.length == 0) {
      return new Inexact(
          Reason.INVALID_REQUEST, problem == null ? "a prompt has no tokens" : problem);
    }
    String hidden = HiddenNamespace.of(body);
    if (hidden != null) {
      return new Inexact(Reason.HIDDEN_NAMESPACE, hidden);
    }
    PromptKeys keys = new PromptKeys(loraName, options.cacheSalt());
    Tokens tokens =
        new Tokens(List.of(tokenIds), keys, options.readsCache(), options.singleChoice(), null);
    return tokens.in(HiddenNamespace.extraKey(body));
  }
}
