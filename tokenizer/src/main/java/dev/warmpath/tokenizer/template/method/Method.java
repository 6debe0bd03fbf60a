package dev.warmpath.tokenizer.template.method;

import dev.warmpath.tokenizer.template.limit.Budget;
import dev.warmpath.tokenizer.template.value.CallArguments;

/** A method of a type of values: what {@code self.name(arguments)} does. */
public interface Method<T> {
  Object call(Budget budget, T self, CallArguments arguments);
}
