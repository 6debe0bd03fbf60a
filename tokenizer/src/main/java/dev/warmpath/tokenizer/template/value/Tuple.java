package dev.warmpath.tokenizer.template.value;

import java.util.AbstractList;
import java.util.List;
import java.util.RandomAccess;

/** A Python tuple: a list of another type. Immutable. */
public final class Tuple extends AbstractList<Object> implements RandomAccess {
  public static final Tuple EMPTY = new Tuple(new Object[0]);

  private final Object[] items;
  private final boolean isGroup;

  private Tuple(Object[] items) {
    this(items, false);
  }

  private Tuple(Object[] items, boolean isGroup) {
    this.items = items;
    this.isGroup = isGroup;
  }

  /** What {@code groupby} gives: a pair whose items also have names. */
  public static Tuple group(Object key, List<Object> items) {
    return new Tuple(new Object[] {key, items}, true);
  }

  /** Whether the items are also called {@code grouper} and {@code list}. */
  public boolean isGroup() {
    return isGroup;
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
