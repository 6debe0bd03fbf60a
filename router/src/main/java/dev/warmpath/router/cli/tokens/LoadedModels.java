package dev.warmpath.router.cli.tokens;

import dev.warmpath.tokenizer.ModelTokenizer;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

/**
 * Tokenizers by model name, each loaded when it is first asked for.
 *
 * <p>Confined to one thread.
 */
public final class LoadedModels implements AutoCloseable {

  private final Function<String, ModelTokenizer> load;
  private final Map<String, ModelTokenizer> loaded = new HashMap<>();

  /** Loads with {@code load}. */
  public LoadedModels(Function<String, ModelTokenizer> load) {
    this.load = load;
  }

  /** The tokenizer of {@code model}. */
  public ModelTokenizer of(String model) {
    return loaded.computeIfAbsent(model, load);
  }

  @Override
  public void close() {
    loaded.values().forEach(ModelTokenizer::close);
  }
}
