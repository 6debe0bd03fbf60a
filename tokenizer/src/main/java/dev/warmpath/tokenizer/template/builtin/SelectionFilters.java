package dev.warmpath.tokenizer.template.builtin;

import dev.warmpath.tokenizer.template.syntax.Budget;
import dev.warmpath.tokenizer.template.syntax.TemplateException;
import dev.warmpath.tokenizer.template.value.CallArguments;
import dev.warmpath.tokenizer.template.value.Iteration;
import dev.warmpath.tokenizer.template.value.PyIterator;
import dev.warmpath.tokenizer.template.value.Text;
import dev.warmpath.tokenizer.template.value.Values;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;

/** Filters that pick or change items lazily, one by one. */
final class SelectionFilters {

  private SelectionFilters() {}

  static void addTo(Map<String, Method<Object>> all) {
    all.put("map", SelectionFilters::map);
    all.put("select", (b, v, a) -> select(b, v, a, true));
    all.put("reject", (b, v, a) -> select(b, v, a, false));
    all.put("selectattr", (b, v, a) -> selectAttribute(b, v, a, true));
    all.put("rejectattr", (b, v, a) -> selectAttribute(b, v, a, false));
  }

  private static PyIterator picked(Budget budget, Object value, Predicate<Object> test) {
    return PyIterator.generator(Iteration.picked(Iteration.over(budget, value), test));
  }

  private static Object select(Budget budget, Object value, CallArguments a, boolean wanted) {
    if (!Values.isTrue(value)) {
      return empty();
    }
    Predicate<Object> test = test(budget, a);
    return picked(budget, value, item -> test.test(item) == wanted);
  }

  private static Object selectAttribute(
      Budget budget, Object value, CallArguments a, boolean wanted) {
    if (!Values.isTrue(value)) {
      return empty();
    }
    if (a.size() == 0) {
      throw TemplateException.raised("Missing parameter for attribute name");
    }
    AttributePath path = AttributePath.of(a.get(0));
    Predicate<Object> test = test(budget, a.without(1));
    return picked(budget, value, item -> test.test(path.get(budget, item)) == wanted);
  }

  private static PyIterator empty() {
    return PyIterator.generator(Collections.emptyIterator());
  }

  private static Predicate<Object> test(Budget budget, CallArguments arguments) {
    if (arguments.size() == 0) {
      return Values::isTrue;
    }
    Method<Object> test = Tests.required(Text.of(budget, arguments.get(0)));
    CallArguments rest = arguments.without(1);
    return item -> {
      budget.step();
      return Values.isTrue(test.call(budget, item, rest));
    };
  }

  private static Object map(Budget budget, Object value, CallArguments arguments) {
    if (!Values.isTrue(value)) {
      return empty();
    }
    Function<Object, Object> change =
        arguments.size() == 0 ? attribute(budget, arguments) : filter(budget, arguments);
    Iterator<Object> items = Iteration.over(budget, value);
    return PyIterator.generator(
        new Iterator<Object>() {
          @Override
          public boolean hasNext() {
            return items.hasNext();
          }

          @Override
          public Object next() {
            budget.step();
            return change.apply(items.next());
          }
        });
  }

  private static Function<Object, Object> attribute(Budget budget, CallArguments arguments) {
    Map<String, Object> keywords = new LinkedHashMap<>(arguments.keywords());
    Object name = keywords.remove("attribute");
    Object otherwise = keywords.remove("default");
    if (name == null || !keywords.isEmpty()) {
      throw TemplateException.raised("map requires a filter argument");
    }
    AttributePath path = AttributePath.of(name);
    return item -> path.get(budget, item, otherwise);
  }

  private static Function<Object, Object> filter(Budget budget, CallArguments arguments) {
    Method<Object> filter = Filters.required(Text.of(budget, arguments.get(0)));
    CallArguments rest = arguments.without(1);
    return item -> filter.call(budget, item, rest);
  }
}
