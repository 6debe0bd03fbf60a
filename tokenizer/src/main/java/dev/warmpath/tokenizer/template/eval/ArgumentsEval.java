package dev.warmpath.tokenizer.template.eval;

import dev.warmpath.tokenizer.template.limit.TemplateException;
import dev.warmpath.tokenizer.template.op.Iteration;
import dev.warmpath.tokenizer.template.tree.Arguments;
import dev.warmpath.tokenizer.template.value.CallArguments;
import dev.warmpath.tokenizer.template.value.Callable;
import dev.warmpath.tokenizer.template.value.Undefined;
import dev.warmpath.tokenizer.template.value.Values;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The compiled arguments of a call. Immutable. */
final class ArgumentsEval {
  private final Eval[] positional;
  private final String[] names;
  private final Eval[] values;
  private final @Nullable Eval star;
  private final @Nullable Eval doubleStar;

  ArgumentsEval(Arguments arguments, ExpressionCompiler compiler) {
    positional = compiler.all(arguments.positional());
    names = arguments.keywords().stream().map(Arguments.Keyword::name).toArray(String[]::new);
    values = compiler.all(arguments.keywords().stream().map(Arguments.Keyword::value).toList());
    star = compiler.orNull(arguments.star());
    doubleStar = compiler.orNull(arguments.doubleStar());
  }

  CallArguments eval(Frame frame) {
    if (star != null || doubleStar != null) {
      return starred(frame);
    }
    if (positional.length == 0 && names.length == 0) {
      return CallArguments.NONE;
    }
    Object[] given = new Object[positional.length];
    for (int i = 0; i < given.length; i++) {
      given[i] = positional[i].eval(frame);
    }
    return names.length == 0 ? CallArguments.of(given) : CallArguments.of(given, keywords(frame));
  }

  private Map<String, Object> keywords(Frame frame) {
    Map<String, Object> keywords = new LinkedHashMap<>();
    for (int i = 0; i < names.length; i++) {
      put(keywords, names[i], values[i].eval(frame));
    }
    return keywords;
  }

  private static void put(Map<String, Object> keywords, String name, Object value) {
    if (keywords.put(name, value) != null) {
      throw TemplateException.raised("got multiple values for keyword argument '" + name + "'");
    }
  }

  private CallArguments starred(Frame frame) {
    List<Object> given = new ArrayList<>();
    for (Eval eval : positional) {
      given.add(eval.eval(frame));
    }
    if (star != null) {
      given.addAll(Iteration.toList(frame.budget(), star.eval(frame)));
    }
    Map<String, Object> keywords = keywords(frame);
    if (doubleStar != null) {
      addAll(keywords, doubleStar.eval(frame));
    }
    return CallArguments.of(given, keywords);
  }

  private static void addAll(Map<String, Object> keywords, Object more) {
    if (!(more instanceof Map<?, ?> map)) {
      throw TemplateException.raised("argument after ** must be a mapping");
    }
    for (Map.Entry<?, ?> entry : map.entrySet()) {
      if (!(entry.getKey() instanceof String name)) {
        throw TemplateException.raised("keywords must be strings");
      }
      put(keywords, name, Values.of(entry.getValue()));
    }
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
