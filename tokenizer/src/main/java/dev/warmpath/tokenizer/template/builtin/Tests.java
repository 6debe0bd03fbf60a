package dev.warmpath.tokenizer.template.builtin;

import dev.warmpath.tokenizer.template.syntax.Budget;
import dev.warmpath.tokenizer.template.syntax.Operator;
import dev.warmpath.tokenizer.template.syntax.TemplateException;
import dev.warmpath.tokenizer.template.syntax.Unsupported;
import dev.warmpath.tokenizer.template.value.Arithmetic;
import dev.warmpath.tokenizer.template.value.CallArguments;
import dev.warmpath.tokenizer.template.value.Callable;
import dev.warmpath.tokenizer.template.value.Iteration;
import dev.warmpath.tokenizer.template.value.Markup;
import dev.warmpath.tokenizer.template.value.None;
import dev.warmpath.tokenizer.template.value.PythonComparison;
import dev.warmpath.tokenizer.template.value.Undefined;
import dev.warmpath.tokenizer.template.value.Values;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The tests by name. */
public final class Tests {
  private static final Map<String, Method<Object>> ALL = all();

  private Tests() {}

  /** The test of this name, if there is one. */
  public static @Nullable Method<Object> find(String name) {
    return ALL.get(name);
  }

  static Method<Object> required(String name) {
    Method<Object> test = ALL.get(name);
    if (test == null) {
      throw TemplateException.raised("No test named '" + name + "'.");
    }
    return test;
  }

  private static Map<String, Method<Object>> all() {
    Map<String, Method<Object>> all = new HashMap<>();
    types(all);
    comparisons(all);
    add(all, "defined", v -> !(v instanceof Undefined));
    add(all, "undefined", v -> v instanceof Undefined);
    add(all, "none", v -> v == None.NONE);
    add(all, "true", v -> Boolean.TRUE.equals(v));
    add(all, "false", v -> Boolean.FALSE.equals(v));
    all.put("odd", (b, v, a) -> remainder(b, v) == 1);
    all.put("even", (b, v, a) -> remainder(b, v) == 0);
    Method.addRefused(all, Unsupported.TEST);
    return Collections.unmodifiableMap(all);
  }

  private static void types(Map<String, Method<Object>> all) {
    add(all, "string", v -> v instanceof String || v instanceof Markup);
    add(all, "mapping", v -> v instanceof Map);
    add(all, "boolean", v -> v instanceof Boolean);
    add(all, "integer", v -> Values.isInteger(v) && !(v instanceof Boolean));
    add(all, "float", v -> v instanceof Double);
    add(all, "number", v -> Values.isInteger(v) || v instanceof Double);
    add(all, "iterable", Iteration::isIterable);
    add(all, "callable", v -> v instanceof Callable || v instanceof Undefined);
    add(
        all,
        "sequence",
        v ->
            v instanceof String
                || v instanceof List
                || v instanceof Map
                || v instanceof Markup
                || v instanceof Undefined);
  }

  private static void comparisons(Map<String, Method<Object>> all) {
    compare(all, Operator.EQUAL, "==", "eq", "equalto");
    compare(all, Operator.NOT_EQUAL, "!=", "ne");
    compare(all, Operator.LESS, "<", "lt", "lessthan");
    compare(all, Operator.LESS_OR_EQUAL, "<=", "le");
    compare(all, Operator.GREATER, ">", "gt", "greaterthan");
    compare(all, Operator.GREATER_OR_EQUAL, ">=", "ge");
    compare(all, Operator.IN, "in");
  }

  private static void add(Map<String, Method<Object>> all, String name, Predicate<Object> test) {
    all.put(
        name,
        (budget, value, arguments) -> {
          if (!arguments.isEmpty()) {
            throw TemplateException.raised("test '" + name + "' takes no arguments");
          }
          return test.test(value);
        });
  }

  private static void compare(Map<String, Method<Object>> all, Operator operator, String... names) {
    for (String name : names) {
      all.put(name, (b, v, a) -> PythonComparison.test(b, operator, v, argument(name, a)));
    }
  }

  private static Object argument(String name, CallArguments arguments) {
    return Args.or(arguments.bindRequired(name, 1, "other")[0], None.NONE);
  }

  private static long remainder(Budget budget, Object value) {
    Object rest = Arithmetic.apply(budget, Operator.MODULO, value, 2L);
    return rest instanceof Long n ? n : rest.equals(0.0) ? 0 : rest.equals(1.0) ? 1 : -1;
  }
}
