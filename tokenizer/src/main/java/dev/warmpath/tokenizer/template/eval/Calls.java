package dev.warmpath.tokenizer.template.eval;

import dev.warmpath.tokenizer.template.limit.TemplateException;
import dev.warmpath.tokenizer.template.value.CallArguments;
import dev.warmpath.tokenizer.template.value.Callable;
import dev.warmpath.tokenizer.template.value.Undefined;
import dev.warmpath.tokenizer.template.value.Values;

/** Calls of values. Immutable. */
final class Calls {

  private Calls() {}

  static Object call(Frame frame, Object callee, CallArguments arguments) {
    frame.budget().step();
    if (callee instanceof Callable callable) {
      return callable.call(frame.budget(), arguments);
    }
    if (callee instanceof Undefined undefined) {
      throw undefined.failure();
    }
    throw TemplateException.raised("'" + Values.typeName(callee) + "' object is not callable");
  }
}
