package dev.warmpath.router.config;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One value of a configuration together with where it was written: {@code file:line} or a flag.
 *
 * <p>Immutable.
 */
public sealed interface ConfigNode {

  String origin();

  /** The same as YAML has it: a scalar, null, a list or a map. */
  @Nullable Object value();

  /** The node of a scalar, a list or a map. */
  static ConfigNode of(@Nullable Object value, String origin) {
    if (value instanceof Map<?, ?> map) {
      Map<String, ConfigNode> entries = new LinkedHashMap<>();
      map.forEach((key, item) -> entries.put(String.valueOf(key), of(item, origin)));
      return new Mapping(entries, origin);
    }
    if (value instanceof List<?> list) {
      return new Listing(list.stream().map(item -> of(item, origin)).toList(), origin);
    }
    return new Scalar(value, origin);
  }

  /** A string, number, boolean or null. */
  record Scalar(@Nullable Object value, String origin) implements ConfigNode {}

  /** A list. */
  record Listing(List<ConfigNode> items, String origin) implements ConfigNode {
    public Listing {
      items = List.copyOf(items);
    }

    @Override
    public List<@Nullable Object> value() {
      List<@Nullable Object> values = new ArrayList<>();
      items.forEach(item -> values.add(item.value()));
      return values;
    }
  }

  /** Keys and values in the order in which they were written. */
  record Mapping(Map<String, ConfigNode> entries, String origin) implements ConfigNode {

    @Override
    public Object value() {
      return entries;
    }

    /** What {@code key} holds, or null for nothing: a key without a value counts as left out. */
    public @Nullable ConfigNode given(String key) {
      ConfigNode node = entries.get(key);
      return node instanceof Scalar scalar && scalar.value() == null ? null : node;
    }

    public Mapping with(String key, ConfigNode value) {
      Map<String, ConfigNode> changed = new LinkedHashMap<>(entries);
      changed.put(key, value);
      return new Mapping(changed, origin);
    }

    public Mapping child(String key, String childOrigin) {
      return entries.get(key) instanceof Mapping mapping
          ? mapping
          : new Mapping(Map.of(), childOrigin);
    }

    public List<ConfigNode> items(String key) {
      return entries.get(key) instanceof Listing listing
          ? new ArrayList<>(listing.items())
          : new ArrayList<>();
    }

    public boolean named(String name) {
      return entries.get("name") instanceof Scalar scalar && name.equals(scalar.value());
    }
  }
}
