package dev.warmpath.tokenizer.template.builtin;

import dev.warmpath.tokenizer.template.limit.Budget;
import dev.warmpath.tokenizer.template.limit.TemplateException;
import dev.warmpath.tokenizer.template.method.AttributePath;
import dev.warmpath.tokenizer.template.method.Given;
import dev.warmpath.tokenizer.template.method.Method;
import dev.warmpath.tokenizer.template.op.Arithmetic;
import dev.warmpath.tokenizer.template.op.Comparison;
import dev.warmpath.tokenizer.template.op.Indexing;
import dev.warmpath.tokenizer.template.op.Iteration;
import dev.warmpath.tokenizer.template.value.CallArguments;
import dev.warmpath.tokenizer.template.value.DictView;
import dev.warmpath.tokenizer.template.value.Lazy;
import dev.warmpath.tokenizer.template.value.None;
import dev.warmpath.tokenizer.template.value.Tuple;
import dev.warmpath.tokenizer.template.value.Undefined;
import dev.warmpath.tokenizer.template.value.Values;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/** Filters that order, cut and sum sequences. Immutable. */
final class SequenceFilters {

  private SequenceFilters() {}

  static void addTo(Map<String, Method<Object>> all) {
    all.put("first", (b, v, a) -> first(Iteration.over(b, v)));
    all.put("last", (b, v, a) -> last(b, v));
    all.put("items", (b, v, a) -> items(v));
    all.put("reverse", (b, v, a) -> reversed(b, v));
    all.put("sort", SequenceFilters::sort);
    all.put("dictsort", SequenceFilters::dictSort);
    all.put("groupby", SequenceFilters::groupBy);
    all.put("min", (b, v, a) -> extreme(b, v, a, -1));
    all.put("max", (b, v, a) -> extreme(b, v, a, 1));
    all.put("sum", SequenceFilters::sum);
    all.put("batch", SequenceFilters::batch);
    all.put("slice", SequenceFilters::slices);
  }

  private static Object first(Iterator<Object> items) {
    return items.hasNext() ? items.next() : Undefined.because("No first item, sequence was empty.");
  }

  private static Object last(Budget budget, Object value) {
    if (value instanceof Lazy lazy) {
      throw TemplateException.raised("'" + lazy.typeName() + "' object is not reversible");
    }
    List<Object> items = Iteration.toList(budget, value);
    return items.isEmpty()
        ? Undefined.because("No last item, sequence was empty.")
        : items.get(items.size() - 1);
  }

  private static Object items(Object value) {
    if (value instanceof Undefined) {
      return Lazy.generator(Collections.emptyIterator());
    }
    if (value instanceof Map<?, ?> map) {
      return Lazy.generator(new DictView(DictView.Kind.ITEMS, map).iterator());
    }
    return Lazy.generator(
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
    boolean copied = value instanceof Lazy;
    return copied ? items : new Lazy("reversed", items.iterator());
  }

  /** What items are compared by. */
  private static Object sortKey(
      Budget budget, Object item, @Nullable Object attribute, boolean cased) {
    Object key = Given.isAbsent(attribute) ? item : AttributePath.of(attribute).get(budget, item);
    return !cased && key instanceof String s ? s.toLowerCase(Locale.ROOT) : key;
  }

  private static Object sort(Budget budget, Object value, CallArguments arguments) {
    @Nullable Object[] given = arguments.bind("sort", "reverse", "case_sensitive", "attribute");
    boolean cased = Given.flag(given[1], false);
    List<Object> keys = new ArrayList<>();
    List<Object> items = Iteration.toList(budget, value);
    for (Object item : items) {
      keys.add(sortKeys(budget, item, given[2], cased));
    }
    return sorted(budget, items, keys, Given.flag(given[0], false));
  }

  /** A list, of a single key too, so that equal keys without an order do not matter. */
  private static Object sortKeys(
      Budget budget, Object item, @Nullable Object attribute, boolean cased) {
    if (!(attribute instanceof String s)) {
      return List.of(sortKey(budget, item, attribute, cased));
    }
    List<Object> keys = new ArrayList<>();
    for (String one : s.split(",", -1)) {
      keys.add(sortKey(budget, item, one, cased));
    }
    return keys;
  }

  private static List<Object> sorted(
      Budget budget, List<Object> items, List<Object> keys, boolean reverse) {
    List<Integer> order = new ArrayList<>();
    for (int i = 0; i < items.size(); i++) {
      order.add(i);
    }
    Comparator<Integer> byKey = (a, b) -> Comparison.order(budget, "<", keys.get(a), keys.get(b));
    order.sort(reverse ? byKey.reversed() : byKey);
    List<Object> result = new ArrayList<>(items.size());
    order.forEach(i -> result.add(items.get(i)));
    return result;
  }

  private static Object dictSort(Budget budget, Object value, CallArguments arguments) {
    @Nullable Object[] given = arguments.bind("dictsort", "case_sensitive", "by", "reverse");
    Object by = Given.or(given[1], "key");
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
      keys.add(sortKey(budget, key, null, Given.flag(given[0], false)));
    }
    return sorted(budget, pairs, keys, Given.flag(given[2], false));
  }

  private static Object groupBy(Budget budget, Object value, CallArguments arguments) {
    @Nullable Object[] given =
        arguments.bindRequired("groupby", 1, "attribute", "default", "case_sensitive");
    boolean cased = Given.flag(given[2], false);
    AttributePath path = AttributePath.of(given[0]);
    List<Object> items = Iteration.toList(budget, value);
    List<Object> keys = new ArrayList<>();
    for (Object item : items) {
      keys.add(sortKey(budget, path.get(budget, item, given[1]), null, cased));
    }
    return grouped(budget, sorted(budget, items, keys, false), path, given[1], cased);
  }

  private static List<Object> grouped(
      Budget budget,
      List<Object> sorted,
      AttributePath path,
      @Nullable Object otherwise,
      boolean cased) {
    List<Object> groups = new ArrayList<>();
    List<Object> members = new ArrayList<>();
    Object last = null;
    for (Object item : sorted) {
      Object key = path.get(budget, item, otherwise);
      Object compared = sortKey(budget, key, null, cased);
      if (last == null || !Comparison.equal(budget, last, compared)) {
        members = new ArrayList<>();
        groups.add(Tuple.group(key, members));
      }
      members.add(item);
      last = compared;
    }
    return groups;
  }

  private static Object extreme(Budget budget, Object value, CallArguments arguments, int sign) {
    @Nullable Object[] given = arguments.bind("max", "case_sensitive", "attribute");
    boolean cased = Given.flag(given[0], false);
    Object best = Undefined.because("No aggregated item, sequence was empty.");
    Object bestKey = null;
    for (Iterator<Object> items = Iteration.over(budget, value); items.hasNext(); ) {
      Object item = items.next();
      Object key = sortKey(budget, item, given[1], cased);
      if (bestKey == null || Comparison.order(budget, ">", key, bestKey) * sign > 0) {
        best = item;
        bestKey = key;
      }
    }
    return best;
  }

  private static Object sum(Budget budget, Object value, CallArguments arguments) {
    @Nullable Object[] given = arguments.bind("sum", "attribute", "start");
    Object total = Given.or(given[1], 0L);
    if (total instanceof String) {
      throw TemplateException.raised("sum() can't sum strings");
    }
    for (Iterator<Object> items = Iteration.over(budget, value); items.hasNext(); ) {
      Object item = items.next();
      Object part = Given.isAbsent(given[0]) ? item : AttributePath.of(given[0]).get(budget, item);
      if (part instanceof Double && total instanceof Double) {
        throw TemplateException.unsupported("sum of floats differs between Python versions");
      }
      total = Arithmetic.add(budget, total, part);
    }
    return total;
  }

  private static Object batch(Budget budget, Object value, CallArguments arguments) {
    @Nullable Object[] given = arguments.bindRequired("batch", 1, "linecount", "fill_with");
    int size = Given.count(given[0], 0, "linecount");
    List<Object> batches = new ArrayList<>();
    List<Object> current = new ArrayList<>();
    for (Object item : Iteration.toList(budget, value)) {
      if (current.size() == size) {
        batches.add(current);
        current = new ArrayList<>();
      }
      current.add(item);
    }
    if (!current.isEmpty()) {
      fill(budget, current, size, given[1]);
      batches.add(current);
    }
    return Lazy.generator(batches.iterator());
  }

  private static void fill(Budget budget, List<Object> items, int size, @Nullable Object with) {
    if (with == null || with == None.NONE) {
      return;
    }
    budget.elements(Math.max(0, size));
    while (items.size() < size) {
      items.add(with);
    }
  }

  private static Object slices(Budget budget, Object value, CallArguments arguments) {
    @Nullable Object[] given = arguments.bindRequired("slice", 1, "slices", "fill_with");
    int count = Given.count(given[0], 1, "slices");
    List<Object> items = Iteration.toList(budget, value);
    if (count == 0) {
      throw TemplateException.raised("integer division or modulo by zero");
    }
    budget.elements(Math.max(0, count));
    int each = items.size() / count;
    int longer = items.size() % count;
    List<Object> slices = new ArrayList<>();
    int from = 0;
    for (int i = 0; i < count; i++) {
      int to = from + each + (i < longer ? 1 : 0);
      List<Object> slice = new ArrayList<>(items.subList(from, to));
      if (!Given.isAbsent(given[1]) && i >= longer) {
        slice.add(Values.of(given[1]));
      }
      slices.add(slice);
      from = to;
    }
    return Lazy.generator(slices.iterator());
  }
}
