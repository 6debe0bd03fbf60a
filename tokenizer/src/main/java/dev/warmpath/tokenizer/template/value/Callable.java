package dev.warmpath.tokenizer.template.value;

import dev.warmpath.tokenizer.template.limit.Budget;

/**
 * A value that can be called: a macro, a method, a global function.
 *
 * <p>Confined to one rendering.
 */
public interface Callable {

  Object call(Budget budget, CallArguments arguments);

  /** Its name, for messages. */
  String name();

  /** Gives a function a name. */
  static Callable named(String name, Body body) {
    return new Callable() {
      @Override
      public Object call(Budget budget, CallArguments arguments) {
        return body.call(budget, arguments);
      }

      @Override
      public String name() {
        return name;
      }
    };
  }

  /** What a callable does. */
  interface Body {
    Object call(Budget budget, CallArguments arguments);
  }
}
