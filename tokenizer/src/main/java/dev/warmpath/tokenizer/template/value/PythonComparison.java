package dev.warmpath.tokenizer.template.value;

import dev.warmpath.tokenizer.template.syntax.Budget;
import dev.warmpath.tokenizer.template.syntax.Operator;
import dev.warmpath.tokenizer.template.syntax.TemplateException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Python's comparisons. */
public final class PythonComparison {
  private static final int MAX_DEPTH = 250;

  private PythonComparison() {}

  /** Whether {@code left operator right} holds. */
  public static boolean test(Budget budget, Operator operator, Object left, Object right) {
    return switch (operator) {
      case EQUAL -> equal(budget, left, right);
      case NOT_EQUAL -> !equal(budget, left, right);
      case IN -> contains(budget, right, left);
      case NOT_IN -> !contains(budget, right, left);
      case LESS -> order(budget, "<", left, right) < 0;
      case LESS_OR_EQUAL -> order(budget, "<=", left, right) <= 0;
      case GREATER -> order(budget, ">", left, right) > 0;
      case GREATER_OR_EQUAL -> order(budget, ">=", left, right) >= 0;
      default -> throw new IllegalArgumentException("operator=" + operator);
    };
  }

  public static boolean equal(Budget budget, Object left, Object right) {
    if (left instanceof String a) {
      if (right instanceof String b) {
        return a.equals(b);
      }
      return right instanceof Markup markup && a.equals(markup.text());
    }
    return equal(budget, left, right, 0);
  }

  @SuppressWarnings("ReferenceEquality") // the same object is equal to itself, found without a walk
  private static boolean equal(Budget budget, Object left, Object right, int depth) {
    budget.scanned(1);
    if (left == right) {
      return !(left instanceof Double d) || !d.isNaN();
    }
    if (depth > MAX_DEPTH) {
      throw TemplateException.limit("values nested deeper than " + MAX_DEPTH);
    }
    if (isNumber(left) && isNumber(right)) {
      return equalNumbers(left, right);
    }
    if (left instanceof List<?> a && right instanceof List<?> b) {
      return sequenceType(a) == sequenceType(b) && equalLists(budget, a, b, depth);
    }
    if (left instanceof Map<?, ?> a && right instanceof Map<?, ?> b) {
      return equalMaps(budget, a, b, depth);
    }
    if (left instanceof DictView || right instanceof DictView) {
      throw TemplateException.unsupported("comparison of dict views");
    }
    if (left instanceof Markup markup) {
      return equal(budget, right, markup.text(), depth + 1);
    }
    return left.equals(right);
  }

  private static Class<?> sequenceType(List<?> list) {
    boolean own = list instanceof Tuple || list instanceof Range;
    return own ? list.getClass() : List.class;
  }

  private static boolean equalLists(Budget budget, List<?> a, List<?> b, int depth) {
    if (a.size() != b.size()) {
      return false;
    }
    Iterator<?> others = b.iterator();
    for (Object item : a) {
      if (!equal(budget, Values.of(item), Values.of(others.next()), depth + 1)) {
        return false;
      }
    }
    return true;
  }

  private static boolean equalMaps(Budget budget, Map<?, ?> a, Map<?, ?> b, int depth) {
    if (a.size() != b.size()) {
      return false;
    }
    for (Map.Entry<?, ?> entry : a.entrySet()) {
      Object key = entry.getKey();
      if (!b.containsKey(key)
          || !equal(budget, Values.of(entry.getValue()), Values.of(b.get(key)), depth + 1)) {
        return false;
      }
    }
    return true;
  }

  static boolean isNumber(Object value) {
    return value instanceof Number || value instanceof Boolean;
  }

  private static boolean equalNumbers(Object left, Object right) {
    return !isNan(left) && !isNan(right) && compareNumbers(left, right) == 0;
  }

  private static boolean isNan(Object value) {
    return value instanceof Double d && d.isNaN();
  }

  private static int compareNumbers(Object left, Object right) {
    if (left instanceof Long a && right instanceof Long b) {
      return Long.compare(a, b);
    }
    if (isInfinite(left) || isInfinite(right)) {
      return Double.compare(number(left).doubleValue(), number(right).doubleValue());
    }
    return exact(left).compareTo(exact(right));
  }

  private static boolean isInfinite(Object value) {
    return value instanceof Double d && d.isInfinite();
  }

  private static Number number(Object value) {
    return value instanceof Boolean b ? (Number) (b ? 1L : 0L) : (Number) value;
  }

  private static BigDecimal exact(Object value) {
    Number number = number(value);
    if (number instanceof Double d) {
      return new BigDecimal(d);
    }
    return number instanceof BigInteger big ? new BigDecimal(big) : new BigDecimal((Long) number);
  }

  /** Less than, equal to or greater than 0; NaN is unsupported. */
  public static int order(Budget budget, String symbol, Object left, Object right) {
    if (isNumber(left) && isNumber(right)) {
      if (isNan(left) || isNan(right)) {
        throw TemplateException.unsupported("order of NaN");
      }
      return compareNumbers(left, right);
    }
    if (left instanceof String a && right instanceof String b) {
      budget.scanned(Math.min(a.length(), b.length()));
      return Strings.compare(a, b);
    }
    throw incomparable(symbol, left, right);
  }

  private static TemplateException incomparable(String symbol, Object left, Object right) {
    for (Object side : new Object[] {left, right}) {
      if (side instanceof Undefined undefined) {
        return undefined.failure();
      }
      if (side instanceof Markup || side instanceof DictView || side instanceof List) {
        return TemplateException.unsupported("order of " + Values.typeName(side));
      }
    }
    return TemplateException.raised(
        "'%s' not supported between instances of '%s' and '%s'"
            .formatted(symbol, Values.typeName(left), Values.typeName(right)));
  }

  /** {@code item in container}. */
  public static boolean contains(Budget budget, Object container, Object item) {
    if (container instanceof String s) {
      return containsText(budget, s, item);
    }
    if (container instanceof Map<?, ?> map) {
      return map.containsKey(key(item));
    }
    if (container instanceof DictView view && view.kind() == DictView.Kind.KEYS) {
      return view.map().containsKey(key(item));
    }
    if (container instanceof Undefined) {
      return false;
    }
    if (container instanceof Markup markup) {
      return containsText(budget, markup.text(), item);
    }
    return containsItem(budget, container, item);
  }

  private static boolean containsText(Budget budget, String s, Object item) {
    budget.scanned(s.length());
    if (item instanceof String part) {
      return Strings.indexOf(budget, s, part, 0) >= 0;
    }
    if (item instanceof Undefined undefined) {
      throw TemplateException.raised(
          "'in <string>' requires string as left operand: " + undefined.failure().bareMessage());
    }
    if (item instanceof Markup markup) {
      return Strings.indexOf(budget, s, markup.text(), 0) >= 0;
    }
    throw TemplateException.raised(
        "'in <string>' requires string as left operand, not " + Values.typeName(item));
  }

  private static boolean containsItem(Budget budget, Object container, Object item) {
    boolean hasItems =
        container instanceof Iterable
            || container instanceof PyIterator
            || container instanceof Attributes;
    if (!hasItems) {
      throw TemplateException.raised(
          "argument of type '" + Values.typeName(container) + "' is not iterable");
    }
    for (Iterator<Object> items = Iteration.over(budget, container); items.hasNext(); ) {
      if (equal(budget, items.next(), item)) {
        return true;
      }
    }
    return false;
  }

  /** A value as a dict's key: numbers that are equal are one key; lists and dicts are none. */
  public static @Nullable Object key(Object value) {
    if (value instanceof String || value instanceof Long) {
      return value;
    }
    if (value instanceof Boolean || value instanceof Double) {
      return numberKey(value);
    }
    if (value == None.NONE) {
      return null;
    }
    if ((value instanceof List && !(value instanceof Tuple) && !(value instanceof Range))
        || value instanceof Map) {
      throw TemplateException.raised("unhashable type: '" + Values.typeName(value) + "'");
    }
    if (value instanceof Markup markup) {
      return markup.text();
    }
    if (value instanceof Namespace || value instanceof Tuple || value instanceof DictView) {
      throw TemplateException.unsupported(Values.typeName(value) + " as a key");
    }
    return value;
  }

  private static Object numberKey(Object value) {
    double real = Arithmetic.real(value);
    return value instanceof Boolean || (real == Math.rint(real) && Math.abs(real) < 1e15)
        ? (Object) (long) real
        : value;
  }
}
