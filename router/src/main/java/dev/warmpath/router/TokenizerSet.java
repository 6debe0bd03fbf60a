package dev.warmpath.router;

import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.tokenizer.ModelTokenizer;
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

  private final Map<String, ModelTokenizer> byPlace = new LinkedHashMap<>();
  private final Map<String, ModelTokenizer> byModel = new LinkedHashMap<>();

  private TokenizerSet() {}

  static TokenizerSet load(List<RouterConfig.Model> models) {
    TokenizerSet set = new TokenizerSet();
    for (RouterConfig.Model model : models) {
      try {
        set.add(model);
      } catch (TokenizerLoadException e) {
        set.close();
        throw new StartException("tokenizer of model '" + model.name() + "': " + e.getMessage(), e);
      }
    }
    return set;
  }

  private void add(RouterConfig.Model model) {
    ModelTokenizer tokenizer =
        byPlace.computeIfAbsent(
            model.tokenizer(),
            place ->
                place.equals(EMBEDDED)
                    ? ModelTokenizer.embedded()
                    : ModelTokenizer.load(Path.of(place)));
    byModel.put(model.name(), tokenizer);
  }

  Map<String, ModelTokenizer> byModel() {
    return byModel;
  }

  @Override
  public void close() {
    byPlace.values().forEach(ModelTokenizer::close);
  }
}
