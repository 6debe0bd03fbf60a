package dev.warmpath.router.prompt;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Gathers the models that a body names: each value of a field {@code model}, and adapters that
 * SGLang takes from fields of their own, as MODEL:ADAPTER.
 *
 * <p>Confined to one thread.
 */
final class NamedModels {

  private static final String MODEL = "model";
  private static final Set<String> ADAPTERS = Set.of("lora_path", "lora_id");

  /** Stands for a name that is no text, and for those beyond the bound: no model is called so. */
  private static final String NO_NAME = "";

  private static final int MOST = 32;

  /** What the usual body names, and all that is kept of it; null if nothing or more was named. */
  private @Nullable String only;

  private Set<String> models = Set.of();
  private Set<String> adapters = Set.of();

  /** Whether a field of this name names models. */
  static boolean isOne(String field) {
    return field.equals(MODEL) || ADAPTERS.contains(field);
  }

  /**
   * Adds what the value here, of a {@linkplain #isOne field}, names; a list, as of an adapter for
   * each prompt, has texts or null. The parser stays within the value.
   */
  void read(String field, JsonParser parser) throws IOException {
    switch (parser.currentToken()) {
      case VALUE_NULL -> {}
      case VALUE_STRING -> add(field, parser.getText());
      case START_ARRAY -> {
        if (field.equals(MODEL)) {
          add(field, null);
        }
        while (parser.nextToken() != JsonToken.END_ARRAY) {
          read(field, parser);
          parser.skipChildren();
        }
      }
      default -> add(field, null);
    }
  }

  /**
   * Adds what a {@linkplain #isOne field} names.
   *
   * @param value null if it is no text
   */
  void add(String field, @Nullable String value) {
    boolean isModel = field.equals(MODEL);
    boolean isFirst = only == null && models.isEmpty() && adapters.isEmpty();
    if (isFirst && isModel && value != null) {
      only = value;
      return;
    }
    if (models.isEmpty() && adapters.isEmpty()) {
      models = new LinkedHashSet<>();
      adapters = new LinkedHashSet<>();
      if (only != null) {
        models.add(only);
        only = null;
      }
    }
    Set<String> names = isModel ? models : adapters;
    names.add(value == null || names.size() >= MOST ? NO_NAME : value);
  }

  /** Names all that {@code others} do, and nothing else. */
  void copy(NamedModels others) {
    only = others.only;
    boolean areMany = !others.models.isEmpty() || !others.adapters.isEmpty();
    models = areMany ? new LinkedHashSet<>(others.models) : Set.of();
    adapters = areMany ? new LinkedHashSet<>(others.adapters) : Set.of();
  }

  /** Bytes of the heap, about. */
  long weight() {
    long bytes = 0;
    for (String name : names()) {
      bytes += NodeBytes.TEXT_BYTES + 2L * name.length();
    }
    return bytes;
  }

  /** All of them. */
  public Set<String> names() {
    if (only != null) {
      return Set.of(only);
    }
    Set<String> names = new LinkedHashSet<>(models);
    for (String adapter : adapters) {
      models.forEach(model -> names.add(model + ":" + adapter));
    }
    return names;
  }
}
