package dev.warmpath.router.config;

import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Compares configurations. The items of a list are matched by their names.
 *
 * <p>Confined to the caller's thread.
 */
public final class ConfigChanges {

  private static final String HIDDEN = "(secret)";
  private static final String PRESENT = "present";

  private final List<ConfigChange> changes = new ArrayList<>();

  private ConfigChanges() {}

  /** Every key whose value differs, in the order of the configuration. */
  public static List<ConfigChange> between(RouterConfig before, RouterConfig after) {
    ConfigChanges found = new ConfigChanges();
    found.compare("", before, after, false);
    return found.changes;
  }

  /**
   * What {@code running} becomes by a reload: its reloadable keys as in {@code next}, the others as
   * they are. Items of a list that is not reloadable as a whole stay; their reloadable keys change.
   *
   * @throws ConfigException if the two do not go together
   */
  public static RouterConfig reloaded(RouterConfig running, RouterConfig next)
      throws ConfigException {
    try {
      return merged(running, next);
    } catch (IllegalArgumentException e) {
      throw new ConfigException(
          "reload", e.getMessage() + ", together with keys that need a restart");
    }
  }

  private void compare(String prefix, Record before, Record after, boolean reloadable) {
    for (RecordComponent component : before.getClass().getRecordComponents()) {
      Object one = Records.value(before, component);
      Object other = Records.value(after, component);
      if (!Objects.equals(one, other)) {
        compare(prefix, component, one, other, reloadable || ConfigKey.isReloadable(component));
      }
    }
  }

  private void compare(
      String prefix,
      RecordComponent component,
      @Nullable Object before,
      @Nullable Object after,
      boolean reloadable) {
    String name = prefix + ConfigKey.name(component);
    if (before instanceof Record one && after instanceof Record other) {
      compare(prefix.isEmpty() ? name + "." : prefix, one, other, reloadable);
    } else if (before instanceof Map<?, ?> one && after instanceof Map<?, ?> other) {
      options(name + ".", one, other, reloadable);
    } else if (isSection(component)) {
      items(name, records(before), records(after), reloadable);
    } else {
      boolean secret = ConfigKey.isSecret(component);
      changes.add(
          new ConfigChange(
              name, secret ? HIDDEN : text(before), secret ? HIDDEN : text(after), reloadable));
    }
  }

  private void options(String prefix, Map<?, ?> before, Map<?, ?> after, boolean reloadable) {
    Set<Object> names = new TreeSet<>(before.keySet());
    names.addAll(after.keySet());
    for (Object name : names) {
      String one = text(before.get(name));
      String other = text(after.get(name));
      if (!one.equals(other)) {
        changes.add(new ConfigChange(prefix + name, one, other, reloadable));
      }
    }
  }

  private void items(
      String list, Map<String, Record> before, Map<String, Record> after, boolean reloadable) {
    Set<String> names = new LinkedHashSet<>(before.keySet());
    names.addAll(after.keySet());
    for (String name : names) {
      Record one = before.get(name);
      Record other = after.get(name);
      String item = list + "[" + name + "]";
      if (one != null && other != null) {
        compare(item + ".", one, other, reloadable);
      } else {
        changes.add(
            new ConfigChange(
                item, one == null ? "" : PRESENT, other == null ? "" : PRESENT, reloadable));
      }
    }
  }

  /** Whether it is a list of sections. */
  private static boolean isSection(RecordComponent component) {
    return ConfigKey.isList(component) && component.getDeclaringRecord() == RouterConfig.class;
  }

  private static Map<String, Record> records(@Nullable Object list) {
    Map<String, Record> items = new LinkedHashMap<>();
    if (list instanceof List<?> all) {
      all.forEach(item -> items.put(name((Record) item, items.size()), (Record) item));
    }
    return items;
  }

  /** An item without a name is called by its place. */
  private static String name(Record item, int place) {
    for (RecordComponent component : item.getClass().getRecordComponents()) {
      if (component.getName().equals("name")) {
        return String.valueOf(Records.value(item, component));
      }
    }
    return Integer.toString(place);
  }

  private static String text(@Nullable Object value) {
    if (value instanceof Enum<?> constant) {
      return ConfigKey.choice(constant);
    }
    return value == null || value.equals(List.of()) ? "" : value.toString();
  }

  @SuppressWarnings("unchecked")
  private static <T extends Record> T merged(T running, T next) {
    List<@Nullable Object> values = new ArrayList<>();
    for (RecordComponent component : running.getClass().getRecordComponents()) {
      Object now = Records.value(running, component);
      Object then = Records.value(next, component);
      if (ConfigKey.isReloadable(component)) {
        values.add(then);
      } else if (now instanceof Record one && then instanceof Record other) {
        values.add(merged(one, other));
      } else if (isSection(component)) {
        values.add(mergedItems(records(now), records(then)));
      } else {
        values.add(now);
      }
    }
    return Records.construct((Class<T>) running.getClass(), values);
  }

  private static List<Record> mergedItems(Map<String, Record> running, Map<String, Record> next) {
    List<Record> items = new ArrayList<>();
    running.forEach((name, item) -> {
      Record other = next.get(name);
      items.add(other == null ? item : merged(item, other));
    });
    return items;
  }

  /**
   * A key whose value is another one in another configuration.
   *
   * @param key with the name of a list's item in brackets; {@code replicas[a]} stands for all of it
   * @param before as text; empty for none
   * @param after as text; empty for none
   * @param reloadable whether a reload changes it
   */
  public record ConfigChange(String key, String before, String after, boolean reloadable) {

    private static final String NONE = "(none)";

    @Override
    public String toString() {
      return key + ": " + shown(before) + " → " + shown(after);
    }

    private static String shown(String value) {
      return value.isEmpty() ? NONE : value;
    }
  }
}
