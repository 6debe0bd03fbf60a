package dev.warmpath.tokenizer.template.value;

import dev.warmpath.tokenizer.template.syntax.Budget;
import dev.warmpath.tokenizer.template.syntax.TemplateException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** {@code value[index]} and {@code value[start:stop:step]}. */
public final class Indexing {

  private Indexing() {}

  /** The item, or null when there is none or the value has no items. */
  public static @Nullable Object item(Budget budget, Object value, Object index) {
    if (value instanceof Map<?, ?> map) {
      return entry(map, index);
    }
    if (value instanceof List<?> list) {
      return Values.isInteger(index) ? element(list, Values.index(index, "index")) : null;
    }
    if (value instanceof String s) {
      return Values.isInteger(index) ? character(budget, s, Values.index(index, "index")) : null;
    }
    if (value instanceof Undefined undefined) {
      throw undefined.failure();
    }
    if (value instanceof Markup) {
      throw TemplateException.unsupported("an item of safe text");
    }
    return null;
  }

  private static @Nullable Object entry(Map<?, ?> map, Object index) {
    if (!isHashable(index)) {
      return null;
    }
    Object key = PythonComparison.key(index);
    Object found = map.get(key);
    return found != null ? Values.of(found) : map.containsKey(key) ? None.NONE : null;
  }

  private static boolean isHashable(Object index) {
    return !(index instanceof Map) && (!(index instanceof List) || index instanceof Tuple);
  }

  private static @Nullable Object element(List<?> list, int index) {
    int i = index < 0 ? index + list.size() : index;
    return i >= 0 && i < list.size() ? Values.of(list.get(i)) : null;
  }

  private static @Nullable Object character(Budget budget, String s, int index) {
    budget.scanned(s.length());
    int length = Strings.length(s);
    int i = index < 0 ? index + length : index;
    return i >= 0 && i < length ? Strings.at(s, i) : null;
  }

  /** A slice; null bounds are open. */
  public static Object slice(
      Budget budget,
      Object value,
      @Nullable Object start,
      @Nullable Object stop,
      @Nullable Object by) {
    int step = by == null || by == None.NONE ? 1 : Values.index(by, "slice");
    if (step == 0) {
      throw TemplateException.raised("slice step cannot be zero");
    }
    if (value instanceof String s) {
      return sliceText(budget, s, bounds(Strings.length(s), start, stop, step));
    }
    if (value instanceof List<?> list && !(value instanceof Range)) {
      return sliceList(budget, list, bounds(list.size(), start, stop, step));
    }
    if (value instanceof Undefined undefined) {
      throw undefined.failure();
    }
    throw TemplateException.unsupported("a slice of a " + Values.typeName(value));
  }

  private static Object sliceText(Budget budget, String s, int[] bounds) {
    budget.text(s.length());
    if (bounds[2] == 1) {
      return bounds[0] >= bounds[1] ? "" : Strings.substring(s, bounds[0], bounds[1]);
    }
    int[] points = s.codePoints().toArray();
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < count(bounds); i++) {
      out.appendCodePoint(points[bounds[0] + i * bounds[2]]);
    }
    return out.toString();
  }

  private static Object sliceList(Budget budget, List<?> list, int[] bounds) {
    int count = count(bounds);
    budget.elements(count);
    List<Object> items = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      items.add(Values.of(list.get(bounds[0] + i * bounds[2])));
    }
    return list instanceof Tuple ? Tuple.copyOf(items) : items;
  }

  private static int count(int[] bounds) {
    long span = bounds[2] > 0 ? (long) bounds[1] - bounds[0] : (long) bounds[0] - bounds[1];
    return span <= 0 ? 0 : (int) ((span - 1) / Math.abs((long) bounds[2]) + 1);
  }

  private static int[] bounds(int size, @Nullable Object start, @Nullable Object stop, int step) {
    int low = step > 0 ? 0 : -1;
    int high = step > 0 ? size : size - 1;
    int from = bound(start, step > 0 ? low : high, size, low, high);
    int to = bound(stop, step > 0 ? high : low, size, low, high);
    return new int[] {from, to, step};
  }

  private static int bound(@Nullable Object given, int open, int size, int low, int high) {
    if (given == null || given == None.NONE) {
      return open;
    }
    int index = Values.index(given, "slice");
    int i = index < 0 ? Math.max(index, -size - 1) + size : index;
    return Math.max(low, Math.min(high, i));
  }
}
