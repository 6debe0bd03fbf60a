package dev.warmpath.tokenizer.template.builtin;

import dev.warmpath.tokenizer.template.syntax.Budget;
import dev.warmpath.tokenizer.template.syntax.TemplateException;
import dev.warmpath.tokenizer.template.value.CallArguments;
import dev.warmpath.tokenizer.template.value.DictView;
import dev.warmpath.tokenizer.template.value.Indexing;
import dev.warmpath.tokenizer.template.value.Iteration;
import dev.warmpath.tokenizer.template.value.PyIterator;
import dev.warmpath.tokenizer.template.value.PythonComparison;
import dev.warmpath.tokenizer.template.value.Tuple;
import dev.warmpath.tokenizer.template.value.Undefined;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/** Filters that order sequences and take their ends. */
final class SequenceFilters {

  private SequenceFilters() {}

  static void addTo(Map<String, Method<Object>> all) {
    all.put("first", (b, v, a) -> first(Iteration.over(b, v)));
    all.put("last", (b, v, a) -> last(b, v));
    all.put("items", (b, v, a) -> items(v));
    all.put("reverse", (b, v, a) -> reversed(b, v));
    all.put("dictsort", SequenceFilters::dictSort);
  }

  private static Object first(Iterator<Object> items) {
    return items.hasNext() ? items.next() : Undefined.because("No first item, sequence was empty.");
  }

  private static Object last(Budget budget, Object value) {
    if (value instanceof PyIterator lazy) {
      throw TemplateException.raised("'" + lazy.typeName() + "' object is not reversible");
    }
    List<Object> items = Iteration.toList(budget, value);
    return items.isEmpty()
        ? Undefined.because("No last item, sequence was empty.")
        : items.get(items.size() - 1);
  }

  private static Object items(Object value) {
    if (value instanceof Undefined) {
      return PyIterator.generator(Collections.emptyIterator());
    }
    if (value instanceof Map<?, ?> map) {
      return PyIterator.generator(new DictView(DictView.Kind.ITEMS, map).iterator());
    }
    return PyIterator.generator(
        new Iterator<Object>() {
          @Override
          public boolean hasNext() {
            throw TemplateException.raised("Can only get item pairs from a mapping.");
          }

          @Override
          public Object next() {
            throw new NoSuchElementException();
          }
        });
  }

  private static Object reversed(Budget budget, Object value) {
    if (value instanceof String s) {
      return Indexing.slice(budget, s, null, null, -1L);
    }
    List<Object> items = Iteration.toList(budget, value);
    Collections.reverse(items);
    boolean copied = value instanceof PyIterator;
    return copied ? items : new PyIterator("reversed", items.iterator());
  }

  private static List<Object> sorted(
      Budget budget, List<Object> items, List<Object> keys, boolean reverse) {
    List<Integer> order = new ArrayList<>();
    for (int i = 0; i < items.size(); i++) {
      order.add(i);
    }
    Comparator<Integer> byKey =
        (a, b) -> PythonComparison.order(budget, "<", keys.get(a), keys.get(b));
    order.sort(reverse ? byKey.reversed() : byKey);
    List<Object> result = new ArrayList<>(items.size());
    order.forEach(i -> result.add(items.get(i)));
    return result;
  }

  private static Object dictSort(Budget budget, Object value, CallArguments arguments) {
    @Nullable Object[] given = arguments.bind("dictsort", "case_sensitive", "by", "reverse");
    Object by = Args.or(given[1], "key");
    if (!by.equals("key") && !by.equals("value")) {
      throw TemplateException.raised("You can only sort by either \"key\" or \"value\"");
    }
    if (!(value instanceof Map<?, ?> map)) {
      throw value instanceof Undefined undefined
          ? undefined.failure()
          : TemplateException.raised("dictsort needs a dict");
    }
    List<Object> pairs = new DictView(DictView.Kind.ITEMS, map).toList();
    List<Object> keys = new ArrayList<>();
    for (Object pair : pairs) {
      Object key = ((Tuple) pair).get(by.equals("key") ? 0 : 1);
      boolean folds = key instanceof String && !Args.flag(given[0], false);
      keys.add(folds ? PythonCase.lower((String) key) : key);
    }
    return sorted(budget, pairs, keys, Args.flag(given[2], false));
  }
}
