package dev.warmpath.router.tokenize;

import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.tokenizer.chat.EngineDate;
import java.time.Clock;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The dates by the clocks of the models' engines.
 *
 * <p>Thread-safe.
 */
public final class EngineDates {

  private final Supplier<RouterConfig> running;
  private final Function<@Nullable String, @Nullable String> modelOf;
  private final Clock clock;

  /** With the configured model that a name in requests means. */
  public EngineDates(
      Supplier<RouterConfig> running,
      Function<@Nullable String, @Nullable String> modelOf,
      Clock clock) {
    this.running = running;
    this.modelOf = modelOf;
    this.clock = clock;
  }

  /** The date in prompts for a model; null if it is about to change, or has just changed. */
  @Nullable LocalDate of(@Nullable String name) {
    return EngineDate.by(clock.withZone(zone(modelOf.apply(name))));
  }

  private ZoneId zone(@Nullable String model) {
    return running.get().models().stream()
        .filter(configured -> configured.name().equals(model))
        .map(configured -> configured.rendering().timeZone())
        .filter(Objects::nonNull)
        .findFirst()
        .map(ZoneId::of)
        .orElseGet(ZoneId::systemDefault);
  }
}
