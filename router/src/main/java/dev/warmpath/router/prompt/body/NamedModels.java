package dev.warmpath.router.prompt.body;

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

  private final Set<String> models = new LinkedHashSet<>();
  private final Set<String> adapters = new LinkedHashSet<>();

  /** Whether a field of this name names models. */
  static boolean isOne(String field) {
    return field.equals(MODEL) || ADAPTERS.contains(field);
  }

  /**
   * Adds what a {@linkplain #isOne field} names.
   *
   * @param value null if it is no text
   */
  void add(String field, @Nullable String value) {
    Set<String> names = field.equals(MODEL) ? models : adapters;
    names.add(value == null || names.size() >= MOST ? NO_NAME : value);
  }

  /** A list follows: there may be one of adapters, for several prompts. */
  void addList(String field) {
    if (field.equals(MODEL)) {
      add(field, null);
    }
  }

  /** All of them. */
  Set<String> names() {
    Set<String> names = new LinkedHashSet<>(models);
    for (String adapter : adapters) {
      models.forEach(model -> names.add(model + ":" + adapter));
    }
    return names;
  }
}
