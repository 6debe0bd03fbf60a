package dev.warmpath.router.prompt;

import dev.warmpath.tokenizer.ModelTokenizer;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The tokenizers by base model, and which adapters belong to which.
 *
 * <p>Immutable.
 */
public final class Tokenizers {

  /** A request's tokenizer and the adapter that it names, if it does. */
  record Choice(ModelTokenizer tokenizer, @Nullable String loraName) {}

  /** Knows the adapters that the fleet has loaded. Implementations are thread-safe. */
  @FunctionalInterface
  public interface Adapters {

    /** The base model of the adapter {@code model}; null if it is no adapter. */
    @Nullable String baseOf(String model);
  }

  private final Map<String, ModelTokenizer> byModel;
  private final Adapters adapters;

  public Tokenizers(Map<String, ModelTokenizer> byModel, Adapters adapters) {
    this.byModel = Map.copyOf(byModel);
    this.adapters = adapters;
  }

  /** What a request for {@code model} is read with; null if nothing fits. */
  @Nullable Choice choose(@Nullable String model) {
    if (model == null) {
      return byModel.size() == 1 ? new Choice(byModel.values().iterator().next(), null) : null;
    }
    String base = adapters.baseOf(model);
    ModelTokenizer own = byModel.get(model);
    ModelTokenizer fitting = own == null && base != null ? byModel.get(base) : own;
    return fitting == null ? null : new Choice(fitting, base == null ? null : model);
  }
}
