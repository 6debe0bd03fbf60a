package dev.warmpath.router.config;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Every key that the records of {@link RouterConfig} and {@link ApiKeyFile} declare, by section.
 */
final class ConfigKeys {

  /** The section of a replica's keys. */
  static final String REPLICAS = "replicas[]";

  private static final Map<String, Map<String, ConfigKey>> SECTIONS = new LinkedHashMap<>();

  /** The keys of the configuration, in the order of their records. */
  static final List<ConfigKey> ALL = add(RouterConfig.class);

  /** The keys of the file of API keys, in their order. */
  static final List<ConfigKey> OF_API_KEYS = add(ApiKeyFile.class);

  private ConfigKeys() {}

  private static List<ConfigKey> add(Class<? extends Record> root) {
    List<ConfigKey> added = new ArrayList<>();
    for (RecordComponent component : root.getRecordComponents()) {
      Map<String, ConfigKey> section = new LinkedHashMap<>();
      boolean reloadable = component.isAnnotationPresent(Reloadable.class);
      keys(path(component), type(component), reloadable)
          .forEach(key -> section.put(key.name(), key));
      SECTIONS.put(path(component), section);
      added.addAll(section.values());
    }
    return List.copyOf(added);
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

  static boolean isList(RecordComponent component) {
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

  /** The keys of a section by their names. */
  static Map<String, ConfigKey> of(String section) {
    return SECTIONS.getOrDefault(section, Map.of());
  }

  /** The name that is most like {@code name}. */
  static String nearest(String name, Collection<String> names) {
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
