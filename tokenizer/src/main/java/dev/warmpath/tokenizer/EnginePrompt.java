package dev.warmpath.tokenizer;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.tokenizer.PromptResult.Inexact;
import dev.warmpath.tokenizer.PromptResult.Tokens;
import dev.warmpath.tokenizer.body.HiddenNamespace;
import dev.warmpath.tokenizer.body.InexactPromptException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A prompt whose tokens an engine said, with what the request itself says about it. */
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
    try {
      PromptOptions options = PromptOptions.read(kind, body);
      HiddenNamespace.check(body);
      if (tokenIds.length == 0) {
        throw InexactPromptException.invalid("a prompt has no tokens");
      }
      PromptKeys keys = new PromptKeys(loraName, options.cacheSalt());
      Tokens tokens =
          new Tokens(List.of(tokenIds), keys, options.readsCache(), options.singleChoice(), null);
      Tokens named = tokens.in(HiddenNamespace.extraKey(body));
      return PromptOptions.limitsLoads(body) ? named.onGpuOnly() : named;
    } catch (InexactPromptException e) {
      return Inexact.of(e);
    }
  }
}
