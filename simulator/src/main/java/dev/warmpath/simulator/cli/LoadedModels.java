package dev.warmpath.simulator.cli;

import dev.warmpath.tokenizer.ModelTokenizer;
import dev.warmpath.tokenizer.chat.ChatOptions.Dialect;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BiFunction;

/**
 * Tokenizers by model name and engine, each loaded when it is first asked for.
 *
 * <p>Confined to one thread.
 */
final class LoadedModels implements AutoCloseable {

  private record Key(String model, Dialect dialect) {}

  private final BiFunction<String, Dialect, ModelTokenizer> load;
  private final Map<Key, ModelTokenizer> loaded = new HashMap<>();

  /** Loads with {@code load}. */
  public LoadedModels(BiFunction<String, Dialect, ModelTokenizer> load) {
    this.load = load;
  }

  /** The tokenizer of {@code model} for this kind of engine. */
  public ModelTokenizer of(String model, Dialect dialect) {
    return loaded.computeIfAbsent(
        new Key(model, dialect), key -> load.apply(key.model(), key.dialect()));
  }

  @Override
  public void close() {
    loaded.values().forEach(ModelTokenizer::close);
  }
}
