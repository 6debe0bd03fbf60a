package dev.warmpath.router.members;

import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;

/**
 * What a pod's annotations {@code warmpath.dev/…} tell of its replica.
 *
 * <p>Immutable.
 *
 * @param ports of the keys {@code events} and {@code replay}
 * @param keys values of other keys
 */
record Annotations(Map<String, Integer> ports, Map<String, Object> keys) {

  static final Annotations NONE = new Annotations(Map.of(), Map.of());

  private static final String PREFIX = "warmpath.dev/";
  private static final int MAX_PORT = 65_535;

  Annotations {
    ports = Map.copyOf(ports);
    keys = Map.copyOf(keys);
  }

  /**
   * Reads those of a pod; what does not begin with the prefix is not looked at.
   *
   * @throws IllegalArgumentException if one makes no sense
   */
  static Annotations of(Map<String, String> pod) {
    Map<String, Integer> ports = new HashMap<>();
    Map<String, Object> keys = new HashMap<>();
    pod.forEach((name, value) -> {
      if (name.startsWith(PREFIX)) {
        read(name, value.strip(), ports, keys);
      }
    });
    return new Annotations(ports, keys);
  }

  private static void read(
      String name, String value, Map<String, Integer> ports, Map<String, Object> keys) {
    String key = name.substring(PREFIX.length());
    switch (key) {
      case "events-port" -> ports.put("events", number(name, value, MAX_PORT));
      case "replay-port" -> ports.put("replay", number(name, value, MAX_PORT));
      case "ranks", "first-rank" -> keys.put(key, (long) number(name, value, Integer.MAX_VALUE));
      case "dialect" -> keys.put(key, value);
      case "models" -> keys.put(key, Stream.of(value.split(",", -1)).map(String::strip).toList());
      default -> throw new IllegalArgumentException("'" + name + "' is unknown");
    }
  }

  private static int number(String name, String value, int max) {
    if (value.matches("[0-9]{1,9}")) {
      int number = Integer.parseInt(value);
      if (number >= 1 && number <= max) {
        return number;
      }
    }
    throw new IllegalArgumentException("'" + name + "' must be a number from 1: '" + value + "'");
  }
}
