package dev.warmpath.router.config.read;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Every key that a record's components declare, by section: each component is a section, or a list
 * of them.
 *
 * <p>Immutable.
 */
public final class ConfigKeys {

  private static final ClassValue<ConfigKeys> OF_RECORDS =
      new ClassValue<>() {
        @Override
        protected ConfigKeys computeValue(Class<?> root) {
          return new ConfigKeys(root);
        }
      };

  private final Map<String, Map<String, ConfigKey>> sections = new LinkedHashMap<>();

  private ConfigKeys(Class<?> root) {
    for (RecordComponent component : root.getRecordComponents()) {
      Map<String, ConfigKey> section = new LinkedHashMap<>();
      boolean reloadable = component.isAnnotationPresent(Reloadable.class);
      keys(path(component), type(component), reloadable)
          .forEach(key -> section.put(key.name(), key));
      sections.put(path(component), section);
    }
  }

  /** The keys of a configuration that is read into {@code root}. */
  public static ConfigKeys of(Class<? extends Record> root) {
    return OF_RECORDS.get(root);
  }

  /** All, in the order of the records. */
  public List<ConfigKey> all() {
    return sections.values().stream().flatMap(section -> section.values().stream()).toList();
  }

  /** The keys of a section by their names. */
  Map<String, ConfigKey> section(String path) {
    return sections.getOrDefault(path, Map.of());
  }

  private static Stream<ConfigKey> keys(String section, Class<?> type, boolean reloadable) {
    return Stream.of(type.getRecordComponents())
        .flatMap(component ->
            component.getType().isRecord()
                ? keys(section, component.getType(), reloadable)
                : ConfigKey.of(section, component, reloadable));
  }

  /** The path of a section, with {@code []} if it is a list. */
  static String path(RecordComponent component) {
    return ConfigKey.name(component) + (isList(component) ? "[]" : "");
  }

  public static boolean isList(RecordComponent component) {
    return component.getType() == List.class;
  }

  /** The record of a section, or of a list's items. */
  static Class<? extends Record> type(RecordComponent component) {
    Class<?> type =
        component.getGenericType() instanceof ParameterizedType list
            ? (Class<?>) list.getActualTypeArguments()[0]
            : component.getType();
    return type.asSubclass(Record.class);
  }

  /** The name that is most like {@code name}. */
  public static String nearest(String name, Collection<String> names) {
    return names.stream()
        .min(Comparator.comparingInt(candidate -> distance(name, candidate)))
        .orElse("");
  }

  /** Edits that turn one word into the other. */
  private static int distance(String a, String b) {
    int[] row = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
      }
    }
    return row[b.length()];
  }
}
