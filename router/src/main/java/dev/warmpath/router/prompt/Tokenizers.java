package dev.warmpath.router.prompt;

import dev.warmpath.tokenizer.ModelTokenizer;
import dev.warmpath.tokenizer.body.FallbackCause;
import org.jspecify.annotations.Nullable;

/**
 * The tokenizers by base model, and which adapters belong to which.
 *
 * <p>Thread-safe.
 */
public final class Tokenizers {

  /** A request's tokenizer as it stands and the adapter that it names, if it does. */
  record Choice(Local local, @Nullable String loraName) {}

  /**
   * A configured model's tokenizer as it stands. Immutable, but for the cost.
   *
   * @param tokenizer null if it cannot be used now
   * @param absent why it cannot, in that case
   * @param cost what prompts read with it take
   */
  public record Local(
      String model, @Nullable ModelTokenizer tokenizer, FallbackCause absent, ReadingTime cost) {}

  /** The tokenizers of the configured models. Implementations are thread-safe. */
  public interface Source {

    /** The one of {@code model}; null if none is configured. */
    @Nullable Local of(String model);

    /** The one of the only model; null if there are several models, or none. */
    @Nullable Local only();
  }

  /** Knows the adapters that the fleet has loaded. Implementations are thread-safe. */
  @FunctionalInterface
  public interface Adapters {

    /** The base model of the adapter {@code model}; null if it is no adapter. */
    @Nullable String baseOf(String model);

    /** How engines call the adapter {@code model} in their events. */
    default String nameOf(String model) {
      return model;
    }
  }

  private final Source source;
  private final Adapters adapters;

  public Tokenizers(Source source, Adapters adapters) {
    this.source = source;
    this.adapters = adapters;
  }

  /** The configured model that a request for {@code model} is read with; null if none is. */
  public @Nullable String modelOf(@Nullable String model) {
    Choice choice = choose(model);
    return choice == null ? null : choice.local().model();
  }

  /** The adapter that requests for {@code model} name; null if it is a base model. */
  public @Nullable String adapterOf(String model) {
    Choice choice = choose(model);
    return choice == null ? null : choice.loraName();
  }

  /** What a request for {@code model} is read with; null if nothing fits. */
  @Nullable Choice choose(@Nullable String model) {
    if (model == null) {
      Local only = source.only();
      return only == null ? null : new Choice(only, null);
    }
    String base = adapters.baseOf(model);
    Local own = source.of(model);
    Local fitting = own == null && base != null ? source.of(base) : own;
    return fitting == null
        ? null
        : new Choice(fitting, base == null ? null : adapters.nameOf(model));
  }
}
