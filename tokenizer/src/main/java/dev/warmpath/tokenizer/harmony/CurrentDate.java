package dev.warmpath.tokenizer.harmony;

import dev.warmpath.tokenizer.body.PromptRefused;
import dev.warmpath.tokenizer.body.Reason;
import dev.warmpath.tokenizer.chat.ChatOptions;
import java.time.Clock;
import java.time.Duration;
import java.time.LocalDate;
import org.jspecify.annotations.Nullable;

/**
 * The date in system messages: the engine's pinned one, or that of its clock. Near midnight it is
 * not known: the engine reads its own clock, and later.
 *
 * <p>Immutable.
 */
final class CurrentDate {
  private static final Duration UNSURE = Duration.ofMinutes(1);

  private final @Nullable String pinned;
  private final Clock earlier;
  private final Clock later;

  CurrentDate(ChatOptions options) {
    this.pinned = options.harmony().startDate();
    this.earlier = Clock.offset(options.clock(), UNSURE.negated());
    this.later = Clock.offset(options.clock(), UNSURE);
  }

  /**
   * The date as text.
   *
   * @throws PromptRefused if it is about to change, or has just changed
   */
  String text() {
    if (pinned != null) {
      return pinned;
    }
    LocalDate date = LocalDate.now(earlier);
    if (!date.equals(LocalDate.now(later))) {
      throw new PromptRefused(Reason.NEAR_MIDNIGHT, "the engine's date is about to change");
    }
    return date.toString();
  }
}
