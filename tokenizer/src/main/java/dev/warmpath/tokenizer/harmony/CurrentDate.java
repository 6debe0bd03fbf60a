package dev.warmpath.tokenizer.harmony;

import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.body.InexactPromptException;
import dev.warmpath.tokenizer.chat.ChatOptions;
import dev.warmpath.tokenizer.chat.EngineDate;
import java.time.Clock;
import java.time.LocalDate;
import org.jspecify.annotations.Nullable;

/**
 * The date in system messages: the engine's pinned one, or that of its clock, which is not known
 * near midnight.
 *
 * <p>Immutable.
 */
final class CurrentDate {
  private final @Nullable String pinned;
  private final Clock clock;

  CurrentDate(ChatOptions options) {
    this.pinned = options.harmony().startDate();
    this.clock = options.clock();
  }

  /**
   * The date as text.
   *
   * @throws InexactPromptException if it is about to change, or has just changed
   */
  String text() {
    if (pinned != null) {
      return pinned;
    }
    LocalDate date = EngineDate.by(clock);
    if (date == null) {
      throw new InexactPromptException(
          FallbackCause.NEAR_MIDNIGHT, "the engine's date is about to change");
    }
    return date.toString();
  }
}
