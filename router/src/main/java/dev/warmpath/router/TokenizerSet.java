package dev.warmpath.router;

import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.tokenizer.ModelOptions;
import dev.warmpath.tokenizer.ModelTokenizer;
import dev.warmpath.tokenizer.chat.ChatOptions;
import dev.warmpath.tokenizer.chat.ChatOptions.Dialect;
import dev.warmpath.tokenizer.files.TokenizerLoadException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The loaded tokenizers of the configured models; models that name the same files share one.
 *
 * <p>Thread-safe.
 */
final class TokenizerSet implements AutoCloseable {

  static final String EMBEDDED = "embedded";

  private final Map<Source, ModelTokenizer> bySource = new LinkedHashMap<>();
  private final Map<String, ModelTokenizer> byModel = new LinkedHashMap<>();

  private TokenizerSet() {}

  /** A model's files, and the engine whose rules its requests are read by. */
  private record Source(String place, Dialect dialect) {}

  static TokenizerSet load(RouterConfig config) {
    TokenizerSet set = new TokenizerSet();
    for (RouterConfig.Model model : config.models()) {
      try {
        set.add(model.name(), new Source(model.tokenizer(), dialect(config, model.name())));
      } catch (TokenizerLoadException e) {
        set.close();
        throw new StartException("tokenizer of model '" + model.name() + "': " + e.getMessage(), e);
      }
    }
    return set;
  }

  /** The one kind of engine that serves the model. */
  private static Dialect dialect(RouterConfig config, String model) {
    List<Dialect> found =
        config.replicas().stream()
            .filter(replica -> replica.models().isEmpty() || replica.models().contains(model))
            .map(replica -> replica.dialect().isSglang() ? Dialect.SGLANG : Dialect.VLLM)
            .distinct()
            .toList();
    if (found.size() > 1) {
      return Dialect.MIXED;
    }
    return found.isEmpty() ? Dialect.VLLM : found.get(0);
  }

  private void add(String model, Source source) {
    byModel.put(model, bySource.computeIfAbsent(source, TokenizerSet::load));
  }

  private static ModelTokenizer load(Source source) {
    ModelOptions options =
        new ModelOptions(ChatOptions.defaults().with(source.dialect()), ModelOptions.UNKNOWN);
    return source.place().equals(EMBEDDED)
        ? ModelTokenizer.embedded(options)
        : ModelTokenizer.load(Path.of(source.place()), options);
  }

  Map<String, ModelTokenizer> byModel() {
    return byModel;
  }

  @Override
  public void close() {
    bySource.values().forEach(ModelTokenizer::close);
  }
}
