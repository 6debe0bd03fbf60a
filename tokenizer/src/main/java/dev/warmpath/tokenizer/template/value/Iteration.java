package dev.warmpath.tokenizer.template.value;

import dev.warmpath.tokenizer.template.syntax.Budget;
import dev.warmpath.tokenizer.template.syntax.TemplateException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Going through what can be gone through. */
public final class Iteration {

  private Iteration() {}

  /** The items of a list, the keys of a dict, the characters of a string, … */
  public static Iterator<Object> over(Budget budget, Object value) {
    if (value instanceof List<?> list) {
      return stepping(budget, list.iterator());
    }
    if (value instanceof Map<?, ?> map) {
      return stepping(budget, map.keySet().iterator());
    }
    if (value instanceof String s) {
      return stepping(budget, characters(s));
    }
    if (value instanceof DictView view) {
      return stepping(budget, view.iterator());
    }
    if (value instanceof PyIterator lazy) {
      return lazy;
    }
    if (value instanceof Undefined) {
      return Collections.emptyIterator();
    }
    if (value instanceof Markup || value instanceof Attributes) {
      throw TemplateException.unsupported("items of safe text or of a loop");
    }
    throw TemplateException.raised("'" + Values.typeName(value) + "' object is not iterable");
  }

  private static Iterator<Object> stepping(Budget budget, Iterator<?> items) {
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return items.hasNext();
      }

      @Override
      public Object next() {
        budget.scanned(1);
        return Values.of(items.next());
      }
    };
  }

  /** The items that pass, found one ahead. */
  public static Iterator<Object> picked(Iterator<Object> items, Predicate<Object> test) {
    return new Iterator<>() {
      private @Nullable Object ahead;

      @Override
      public boolean hasNext() {
        while (ahead == null && items.hasNext()) {
          Object item = items.next();
          ahead = test.test(item) ? item : null;
        }
        return ahead != null;
      }

      @Override
      public Object next() {
        Object item = hasNext() ? ahead : null;
        if (item == null) {
          throw new NoSuchElementException();
        }
        ahead = null;
        return item;
      }
    };
  }

  private static Iterator<?> characters(String s) {
    return s.codePoints().mapToObj(Character::toString).iterator();
  }

  public static boolean isIterable(Object value) {
    return value instanceof List
        || value instanceof Map
        || value instanceof String
        || value instanceof DictView
        || value instanceof PyIterator
        || value instanceof Undefined
        || value instanceof Markup;
  }

  /** {@code list(value)}. */
  public static List<Object> toList(Budget budget, Object value) {
    List<Object> list = new ArrayList<>();
    for (Iterator<Object> items = over(budget, value); items.hasNext(); ) {
      list.add(items.next());
      budget.elements(1);
    }
    return list;
  }

  /** {@code len(value)}. */
  public static long length(Budget budget, Object value) {
    if (value instanceof String s) {
      budget.scanned(s.length());
      return Strings.length(s);
    }
    if (value instanceof List<?> list) {
      return list.size();
    }
    if (value instanceof Map<?, ?> map) {
      return map.size();
    }
    if (value instanceof DictView view) {
      return view.size();
    }
    if (value instanceof Undefined) {
      return 0;
    }
    if (value instanceof Markup markup) {
      return Strings.length(markup.text());
    }
    if (value instanceof Attributes) {
      throw TemplateException.unsupported("the length of a loop by filter");
    }
    throw TemplateException.raised("object of type '" + Values.typeName(value) + "' has no len()");
  }
}
