package dev.warmpath.tokenizer.chat;

import java.time.Clock;
import java.time.Duration;
import java.time.LocalDate;
import org.jspecify.annotations.Nullable;

/** The date that an engine puts into prompts. It reads a clock of its own, and later. */
public final class EngineDate {
  private static final Duration UNSURE = Duration.ofMinutes(1);

  private EngineDate() {}

  /** The date by a clock in the engine's zone; null within a minute of midnight. */
  public static @Nullable LocalDate by(Clock clock) {
    LocalDate date = LocalDate.now(Clock.offset(clock, UNSURE.negated()));
    return date.equals(LocalDate.now(Clock.offset(clock, UNSURE))) ? date : null;
  }
}
