package dev.warmpath.tokenizer.template.value;

import java.util.Iterator;

/**
 * A Python iterator: can be gone through once, has no length, is true, and has no text that would
 * be the same twice.
 *
 * <p>Confined to the thread of its render.
 */
public final class Lazy implements Iterator<Object> {
  private final String typeName;
  private final Iterator<?> items;

  public Lazy(String typeName, Iterator<?> items) {
    this.typeName = typeName;
    this.items = items;
  }

  public static Lazy generator(Iterator<?> items) {
    return new Lazy("generator", items);
  }

  public String typeName() {
    return typeName;
  }

  @Override
  public boolean hasNext() {
    return items.hasNext();
  }

  @Override
  public Object next() {
    return Values.of(items.next());
  }
}
