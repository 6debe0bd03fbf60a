package dev.warmpath.tokenizer.template.value;

import java.util.Iterator;

/**
 * A Python iterator: single-pass, truthy, unsized, and without a printable form.
 *
 * <p>Confined to the thread of its render.
 */
public final class PyIterator implements Iterator<Object> {
  private final String typeName;
  private final Iterator<?> items;

  public PyIterator(String typeName, Iterator<?> items) {
    this.typeName = typeName;
    this.items = items;
  }

  public static PyIterator generator(Iterator<?> items) {
    return new PyIterator("generator", items);
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
