package dev.warmpath.tokenizer.template;

import dev.warmpath.tokenizer.template.syntax.Arguments;
import dev.warmpath.tokenizer.template.syntax.TemplateException;
import dev.warmpath.tokenizer.template.syntax.Unsupported;
import dev.warmpath.tokenizer.template.value.CallArguments;
import dev.warmpath.tokenizer.template.value.Callable;
import dev.warmpath.tokenizer.template.value.Undefined;
import dev.warmpath.tokenizer.template.value.Values;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The compiled arguments of a call. */
final class ArgumentsEval {
  private final Eval[] positional;
  private final String[] names;
  private final Eval[] values;
  private final @Nullable TemplateException refusal;

  ArgumentsEval(Arguments arguments, ExpressionCompiler compiler) {
    positional = compiler.all(arguments.positional());
    names = arguments.keywords().stream().map(Arguments.Keyword::name).toArray(String[]::new);
    values = compiler.all(arguments.keywords().stream().map(Arguments.Keyword::value).toList());
    String star = arguments.star();
    refusal = star == null ? null : Unsupported.ARGUMENT.of(star);
  }

  CallArguments eval(Frame frame) {
    if (refusal != null) {
      throw refusal;
    }
    if (positional.length == 0 && names.length == 0) {
      return CallArguments.NONE;
    }
    Object[] given = new Object[positional.length];
    for (int i = 0; i < given.length; i++) {
      given[i] = positional[i].eval(frame);
    }
    return new CallArguments(given, keywords(frame));
  }

  private Map<String, Object> keywords(Frame frame) {
    if (names.length == 0) {
      return Map.of();
    }
    Map<String, Object> keywords = new LinkedHashMap<>();
    for (int i = 0; i < names.length; i++) {
      if (keywords.put(names[i], values[i].eval(frame)) != null) {
        throw TemplateException.raised("got multiple values for argument '" + names[i] + "'");
      }
    }
    return keywords;
  }

  /** Calls a value, if it can be called. */
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
