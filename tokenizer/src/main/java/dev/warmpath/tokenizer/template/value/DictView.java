package dev.warmpath.tokenizer.template.value;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/** What {@code dict.keys()}, {@code values()} and {@code items()} give: sized, not indexed. */
public record DictView(Kind kind, Map<?, ?> map) implements Iterable<Object> {

  /** Which part of the entries. */
  public enum Kind {
    KEYS("dict_keys"),
    VALUES("dict_values"),
    ITEMS("dict_items");

    private final String typeName;

    Kind(String typeName) {
      this.typeName = typeName;
    }

    public String typeName() {
      return typeName;
    }
  }

  public int size() {
    return map.size();
  }

  @Override
  public Iterator<Object> iterator() {
    Iterator<? extends Map.Entry<?, ?>> entries = map.entrySet().iterator();
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return entries.hasNext();
      }

      @Override
      public Object next() {
        return part(entries.next());
      }
    };
  }

  private Object part(Map.Entry<?, ?> entry) {
    return switch (kind) {
      case KEYS -> Values.of(entry.getKey());
      case VALUES -> Values.of(entry.getValue());
      case ITEMS -> Tuple.of(Values.of(entry.getKey()), Values.of(entry.getValue()));
    };
  }

  public List<Object> toList() {
    List<Object> list = new ArrayList<>(map.size());
    forEach(list::add);
    return list;
  }
}
