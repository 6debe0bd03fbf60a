package dev.warmpath.tokenizer.template.builtin;

import dev.warmpath.tokenizer.template.syntax.Budget;
import dev.warmpath.tokenizer.template.syntax.TemplateException;
import dev.warmpath.tokenizer.template.syntax.Unsupported;
import dev.warmpath.tokenizer.template.value.Attributes;
import dev.warmpath.tokenizer.template.value.CallArguments;
import dev.warmpath.tokenizer.template.value.Callable;
import dev.warmpath.tokenizer.template.value.DictView;
import dev.warmpath.tokenizer.template.value.Indexing;
import dev.warmpath.tokenizer.template.value.Markup;
import dev.warmpath.tokenizer.template.value.Namespace;
import dev.warmpath.tokenizer.template.value.None;
import dev.warmpath.tokenizer.template.value.PythonComparison;
import dev.warmpath.tokenizer.template.value.Tuple;
import dev.warmpath.tokenizer.template.value.Undefined;
import dev.warmpath.tokenizer.template.value.Values;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Attributes and items as the sandboxed environment looks them up: {@code a.b} finds the attribute
 * before the item, {@code a['b']} the item before the attribute. What would change a list or dict
 * is unsafe and comes out undefined.
 */
public final class Members {
  private static final Map<String, Method<Map<?, ?>>> DICT =
      Map.of(
          "items", (b, map, a) -> view(DictView.Kind.ITEMS, map, a),
          "keys", (b, map, a) -> view(DictView.Kind.KEYS, map, a),
          "values", (b, map, a) -> view(DictView.Kind.VALUES, map, a),
          "get", Members::get);
  private static final Set<String> UNSAFE_DICT =
      Set.of("clear", "pop", "popitem", "setdefault", "update");
  private static final Set<String> UNSAFE_LIST =
      Set.of("append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort");

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
    return DICT.containsKey(name)
        || UNSAFE_DICT.contains(name)
        || Unsupported.DICT_METHOD.has(name);
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
      return bound(StringMethods.find(name), s);
    }
    if (owner instanceof Number || owner instanceof Boolean) {
      Unsupported.NUMBER_ATTRIBUTE.check(name);
      return null;
    }
    return ofCollection(owner, name);
  }

  private static @Nullable Object ofCollection(Object owner, String name) {
    if (owner instanceof Map<?, ?> map) {
      Unsupported.DICT_METHOD.check(name);
      return UNSAFE_DICT.contains(name) ? unsafe(name) : bound(DICT.get(name), map);
    }
    if (owner instanceof List<?>) {
      Unsupported.LIST_METHOD.check(name);
      return !(owner instanceof Tuple) && UNSAFE_LIST.contains(name) ? unsafe(name) : null;
    }
    return null;
  }

  private static Undefined unsafe(String name) {
    return Undefined.because("access to attribute '" + name + "' is unsafe");
  }

  private static <T> @Nullable Callable bound(@Nullable Method<T> method, T self) {
    return method == null ? null : (budget, arguments) -> method.call(budget, self, arguments);
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
    Object key = PythonComparison.key(Args.or(given[0], None.NONE));
    return map.containsKey(key) ? Values.of(map.get(key)) : Args.or(given[1], None.NONE);
  }
}
