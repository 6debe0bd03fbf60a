package dev.warmpath.tokenizer.template.method;

import dev.warmpath.tokenizer.template.limit.Budget;
import dev.warmpath.tokenizer.template.limit.TemplateException;
import dev.warmpath.tokenizer.template.op.Arithmetic;
import dev.warmpath.tokenizer.template.op.Comparison;
import dev.warmpath.tokenizer.template.op.Indexing;
import dev.warmpath.tokenizer.template.value.Attributes;
import dev.warmpath.tokenizer.template.value.CallArguments;
import dev.warmpath.tokenizer.template.value.Callable;
import dev.warmpath.tokenizer.template.value.DictView;
import dev.warmpath.tokenizer.template.value.Markup;
import dev.warmpath.tokenizer.template.value.Namespace;
import dev.warmpath.tokenizer.template.value.None;
import dev.warmpath.tokenizer.template.value.Tuple;
import dev.warmpath.tokenizer.template.value.Undefined;
import dev.warmpath.tokenizer.template.value.Values;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Attributes and items as the sandboxed environment looks them up: {@code a.b} finds the attribute
 * before the item, {@code a['b']} the item before the attribute. What would change a list or dict
 * is unsafe and comes out undefined.
 *
 * <p>Immutable.
 */
public final class Members {
  private static final Map<String, Method<Map<?, ?>>> DICT =
      Map.of(
          "items", (b, map, a) -> view(DictView.Kind.ITEMS, map, a),
          "keys", (b, map, a) -> view(DictView.Kind.KEYS, map, a),
          "values", (b, map, a) -> view(DictView.Kind.VALUES, map, a),
          "get", Members::get,
          "copy", Members::copy);
  private static final Map<String, Method<List<?>>> LIST =
      Map.of("count", Members::count, "index", Members::index, "copy", Members::copyList);
  private static final Set<String> UNSAFE_DICT =
      Set.of("clear", "pop", "popitem", "setdefault", "update");
  private static final Set<String> UNSAFE_LIST =
      Set.of("append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort");

  private static final Set<String> INTEGER_ATTRIBUTES =
      Set.of("real", "imag", "numerator", "denominator");
  private static final Set<String> NUMBER_ATTRIBUTES =
      Set.of(
          "as_integer_ratio",
          "bit_count",
          "bit_length",
          "conjugate",
          "from_bytes",
          "fromhex",
          "hex",
          "imag",
          "is_integer",
          "real",
          "to_bytes");

  private Members() {}

  /** {@code owner.name}. */
  public static Object attribute(Budget budget, Object owner, String name) {
    if (owner instanceof Map<?, ?> map && !isDictAttribute(name)) {
      Object found = map.get(name);
      return found != null ? Values.of(found) : absentOrNone(map, name);
    }
    Object found = own(owner, name);
    return found != null ? found : itemOrUndefined(budget, owner, name);
  }

  private static Object absentOrNone(Map<?, ?> map, String name) {
    return map.containsKey(name) ? None.NONE : Undefined.member(map, name);
  }

  private static boolean isDictAttribute(String name) {
    return DICT.containsKey(name) || UNSAFE_DICT.contains(name) || name.equals("fromkeys");
  }

  private static Object itemOrUndefined(Budget budget, Object owner, Object index) {
    Object found = Indexing.item(budget, owner, index);
    return found != null ? found : Undefined.member(owner, index);
  }

  /** {@code owner[index]}. */
  public static Object item(Budget budget, Object owner, Object index) {
    Object found = Indexing.item(budget, owner, index);
    if (found == null && index instanceof String name) {
      found = own(owner, name);
    }
    return found != null ? found : Undefined.member(owner, index);
  }

  /** The attribute that the value has by its type, or null. */
  public static @Nullable Object own(Object owner, String name) {
    if (owner instanceof Undefined undefined) {
      throw undefined.failure();
    }
    if (owner instanceof Namespace namespace) {
      return namespace.attributes().get(name);
    }
    if (owner instanceof Attributes attributes) {
      return attributes.attribute(name);
    }
    if (owner instanceof Markup) {
      throw TemplateException.unsupported("an attribute of safe text");
    }
    if (owner instanceof String s) {
      return bound(StringMethods.find(name), s, name);
    }
    return owner instanceof Number || owner instanceof Boolean
        ? ofNumber(owner, name)
        : ofCollection(owner, name);
  }

  private static @Nullable Object ofNumber(Object owner, String name) {
    if (Values.isInteger(owner) && INTEGER_ATTRIBUTES.contains(name)) {
      return switch (name) {
        case "imag" -> 0L;
        case "denominator" -> 1L;
        default -> Arithmetic.positive(owner);
      };
    }
    if (NUMBER_ATTRIBUTES.contains(name)) {
      throw TemplateException.unsupported("attribute " + name + " of a number");
    }
    return null;
  }

  private static @Nullable Object ofCollection(Object owner, String name) {
    if (owner instanceof Map<?, ?> map) {
      return UNSAFE_DICT.contains(name) ? unsafe(name) : bound(DICT.get(name), map, name);
    }
    if (owner instanceof Tuple tuple && tuple.isGroup()) {
      int named = List.of("grouper", "list").indexOf(name);
      return named >= 0 ? tuple.get(named) : bound(LIST.get(name), tuple, name);
    }
    if (owner instanceof List<?> list) {
      boolean unsafe = !(owner instanceof Tuple) && UNSAFE_LIST.contains(name);
      return unsafe ? unsafe(name) : bound(LIST.get(name), list, name);
    }
    return null;
  }

  private static Undefined unsafe(String name) {
    return Undefined.because("access to attribute '" + name + "' is unsafe");
  }

  private static <T> @Nullable Object bound(@Nullable Method<T> method, T self, String name) {
    return method == null
        ? null
        : Callable.named(name, (budget, arguments) -> method.call(budget, self, arguments));
  }

  /** The dict method of this name, if there is one. */
  public static @Nullable Method<Map<?, ?>> dictMethod(String name) {
    return DICT.get(name);
  }

  private static Object view(DictView.Kind kind, Map<?, ?> map, CallArguments arguments) {
    arguments.bind(kind.typeName());
    return new DictView(kind, map);
  }

  private static Object get(Budget budget, Map<?, ?> map, CallArguments arguments) {
    if (!arguments.keywords().isEmpty()) {
      throw TemplateException.raised("dict.get() takes no keyword arguments");
    }
    @Nullable Object[] given = arguments.bindRequired("get", 1, "key", "default");
    Object key = Comparison.key(Given.or(given[0], None.NONE));
    return map.containsKey(key) ? Values.of(map.get(key)) : Given.or(given[1], None.NONE);
  }

  private static Object copy(Budget budget, Map<?, ?> map, CallArguments arguments) {
    arguments.bind("copy");
    budget.elements(map.size());
    return new LinkedHashMap<>(map);
  }

  private static Object copyList(Budget budget, List<?> list, CallArguments arguments) {
    arguments.bind("copy");
    return Indexing.slice(budget, list, null, null, null);
  }

  private static Object count(Budget budget, List<?> list, CallArguments arguments) {
    Object wanted = Given.or(arguments.bindRequired("count", 1, "value")[0], None.NONE);
    return list.stream().filter(i -> Comparison.equal(budget, Values.of(i), wanted)).count();
  }

  private static Object index(Budget budget, List<?> list, CallArguments arguments) {
    Object wanted = Given.or(arguments.bindRequired("index", 1, "value")[0], None.NONE);
    long at = 0;
    for (Object item : list) {
      if (Comparison.equal(budget, Values.of(item), wanted)) {
        return at;
      }
      at++;
    }
    throw TemplateException.raised("value is not in list");
  }
}
