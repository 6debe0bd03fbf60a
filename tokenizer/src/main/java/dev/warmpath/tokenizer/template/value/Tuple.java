package dev.warmpath.tokenizer.template.value;

import java.util.AbstractList;
import java.util.List;
import java.util.RandomAccess;

/** A Python tuple: a list of another type. */
public final class Tuple extends AbstractList<Object> implements RandomAccess {
  public static final Tuple EMPTY = new Tuple(new Object[0]);

  private final Object[] items;

  private Tuple(Object[] items) {
    this.items = items;
  }

  public static Tuple of(Object... items) {
    return items.length == 0 ? EMPTY : new Tuple(items.clone());
  }

  public static Tuple copyOf(List<?> items) {
    return items.isEmpty() ? EMPTY : new Tuple(items.toArray());
  }

  @Override
  public Object get(int index) {
    return items[index];
  }

  @Override
  public int size() {
    return items.length;
  }
}
