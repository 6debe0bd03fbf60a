package dev.warmpath.router.config;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * Environment variables that set keys: {@code WARMPATH_LISTEN_PORT} is {@code listen.port}. Lists
 * of sections are given whole, in YAML: {@code WARMPATH_REPLICAS}.
 */
public final class EnvironmentKeys {

  private static final String PREFIX = "WARMPATH_";

  /** Given whole, as lists of YAML. */
  private static final List<String> LISTS = List.of("models", "replicas", "discovery");

  /** The launcher's own, and the log's. */
  private static final Pattern OTHERS = Pattern.compile("WARMPATH_(JAVA_.*|LOG_LEVEL)");

  private static final Map<String, ConfigKey> BY_VARIABLE = byVariable();

  private EnvironmentKeys() {}

  private static Map<String, ConfigKey> byVariable() {
    Map<String, ConfigKey> keys = new TreeMap<>();
    for (ConfigKey key : ConfigKey.all(RouterConfig.class)) {
      if (!key.section().endsWith("[]")) {
        keys.put(variable(key), key);
      }
    }
    return keys;
  }

  private static String variable(ConfigKey key) {
    return PREFIX + key.path().replace('.', '_').replace('-', '_').toUpperCase(Locale.ROOT);
  }

  /** The configuration with the keys that {@code environment} sets. */
  public static ConfigTree over(ConfigTree tree, Map<String, String> environment)
      throws ConfigException {
    ConfigTree changed = tree;
    for (Map.Entry<String, ConfigKey> entry : BY_VARIABLE.entrySet()) {
      String value = environment.get(entry.getKey());
      if (value != null && !value.isBlank()) {
        changed = changed.setText(entry.getValue(), value, entry.getKey());
      }
    }
    for (String list : LISTS) {
      String value = environment.get(PREFIX + list.toUpperCase(Locale.ROOT));
      if (value != null && !value.isBlank()) {
        changed = changed.setList(list, value, PREFIX + list.toUpperCase(Locale.ROOT));
      }
    }
    return changed;
  }

  /** What is wrong with variables that set no key, one line each. */
  public static List<String> warnings(Map<String, String> environment) {
    List<String> warnings = new ArrayList<>();
    Set<String> known = new TreeSet<>(BY_VARIABLE.keySet());
    LISTS.forEach(list -> known.add(PREFIX + list.toUpperCase(Locale.ROOT)));
    for (String name : new TreeMap<>(environment).keySet()) {
      if (name.startsWith(PREFIX) && !OTHERS.matcher(name).matches() && !known.contains(name)) {
        String nearest = ConfigKey.nearest(name, known);
        warnings.add("ignored: " + name + " sets no key; the nearest is " + nearest);
      }
    }
    return warnings;
  }
}
