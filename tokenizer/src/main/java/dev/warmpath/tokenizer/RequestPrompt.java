package dev.warmpath.tokenizer;

import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.tokenizer.PromptResult.Inexact;
import java.util.List;

/**
 * What a request asks the engine to tokenize, or the reason why that cannot be known here.
 *
 * <p>Immutable.
 */
sealed interface RequestPrompt {

  /** Texts, each the whole of one prompt. */
  record Texts(List<String> texts, PromptOptions options, PromptKeys keys)
      implements RequestPrompt {}

  /** Token ids of one prompt or several, each within the model's range. */
  record TokenIds(List<int[]> sequences, PromptOptions options, PromptKeys keys)
      implements RequestPrompt {}

  /** Neither. */
  record Refused(Inexact why) implements RequestPrompt {}
}
