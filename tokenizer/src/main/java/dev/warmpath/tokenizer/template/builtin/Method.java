package dev.warmpath.tokenizer.template.builtin;

import dev.warmpath.tokenizer.template.syntax.Budget;
import dev.warmpath.tokenizer.template.syntax.Unsupported;
import dev.warmpath.tokenizer.template.value.CallArguments;
import java.util.Map;

/** A method of a type of values: what {@code self.name(arguments)} does. */
public interface Method<T> {
  Object call(Budget budget, T self, CallArguments arguments);

  /** Adds what is refused where it is called. */
  static <T> void addRefused(Map<String, Method<T>> all, Unsupported kind) {
    for (String name : kind.names()) {
      all.put(
          name,
          (budget, self, arguments) -> {
            throw kind.of(name);
          });
    }
  }
}
