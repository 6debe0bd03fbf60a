package dev.warmpath.tokenizer.template.value;

import dev.warmpath.tokenizer.template.syntax.Budget;

/** A value that can be called: a macro, a method, a global function. */
@FunctionalInterface
public interface Callable {

  Object call(Budget budget, CallArguments arguments);
}
