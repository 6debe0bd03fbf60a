package dev.warmpath.tokenizer.template.value;

import dev.warmpath.tokenizer.template.syntax.TemplateException;
import java.math.BigInteger;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What all values have: a type, a truth, and a way in. */
public final class Values {

  private Values() {}

  /** A value as it came from outside, or out of a collection, as a value of the interpreter. */
  public static Object of(@Nullable Object raw) {
    if (raw == null) {
      return None.NONE;
    }
    if (raw instanceof Number n && !(raw instanceof Long) && !(raw instanceof Double)) {
      return number(n);
    }
    return raw;
  }

  private static Object number(Number n) {
    if (n instanceof BigInteger big) {
      return integer(big);
    }
    if (n instanceof Integer || n instanceof Short || n instanceof Byte) {
      return n.longValue();
    }
    return n.doubleValue();
  }

  /** The smallest form of an integer. */
  public static Object integer(BigInteger value) {
    return value.bitLength() < Long.SIZE ? (Object) value.longValue() : value;
  }

  /** Python's truth value. */
  public static boolean isTrue(Object value) {
    if (value instanceof Boolean b) {
      return b;
    }
    if (value instanceof String s) {
      return !s.isEmpty();
    }
    if (value instanceof List<?> list) {
      return !list.isEmpty();
    }
    if (value instanceof Map<?, ?> map) {
      return !map.isEmpty();
    }
    return value != None.NONE && !(value instanceof Undefined) && isTrueRarely(value);
  }

  private static boolean isTrueRarely(Object value) {
    if (value instanceof Long n) {
      return n != 0;
    }
    if (value instanceof Double d) {
      return d != 0;
    }
    if (value instanceof DictView view) {
      return view.size() > 0;
    }
    return !(value instanceof Markup markup) || !markup.text().isEmpty();
  }

  /** The name of a value's Python type. */
  public static String typeName(Object value) {
    if (value instanceof String) {
      return "str";
    }
    if (value instanceof Map) {
      return "dict";
    }
    if (value instanceof List) {
      return value instanceof Tuple ? "tuple" : value instanceof Range ? "range" : "list";
    }
    if (value instanceof Number) {
      return value instanceof Double ? "float" : "int";
    }
    return rareTypeName(value);
  }

  private static String rareTypeName(Object value) {
    if (value == None.NONE) {
      return "NoneType";
    }
    if (value instanceof Boolean) {
      return "bool";
    }
    if (value instanceof DictView view) {
      return view.kind().typeName();
    }
    if (value instanceof PyIterator lazy) {
      return lazy.typeName();
    }
    return value instanceof Callable ? "function" : value.getClass().getSimpleName();
  }

  public static boolean isInteger(Object value) {
    return value instanceof Long || value instanceof BigInteger || value instanceof Boolean;
  }

  /** An index or count: an integer (or bool) that fits; larger ones are cut to the range. */
  public static int index(Object value, String what) {
    if (value instanceof Long n) {
      return (int) Math.max(Integer.MIN_VALUE, Math.min(Integer.MAX_VALUE, n));
    }
    if (value instanceof Boolean b) {
      return b ? 1 : 0;
    }
    if (value instanceof BigInteger big) {
      return big.signum() < 0 ? Integer.MIN_VALUE : Integer.MAX_VALUE;
    }
    if (value instanceof Undefined undefined) {
      throw undefined.failure();
    }
    throw TemplateException.raised(
        what + ": '" + typeName(value) + "' object cannot be interpreted as an integer");
  }
}
