package dev.warmpath.simulator.study;

import dev.warmpath.router.routing.Policy;
import dev.warmpath.router.routing.policy.Policies;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A policy as users write it: its name, and options that differ from their defaults, as in {@code
 * warm:miss-weight=4}.
 */
public final class PolicySpec {

  private PolicySpec() {}

  /**
   * A new policy.
   *
   * @throws IllegalArgumentException if there is none such, saying which there are
   */
  public static Policy make(String spec) {
    List<String> parts = List.of(spec.split(":", -1));
    Map<String, Double> options = new HashMap<>();
    for (String part : parts.subList(1, parts.size())) {
      int equals = part.indexOf('=');
      try {
        options.put(part.substring(0, equals), Double.valueOf(part.substring(equals + 1)));
      } catch (IndexOutOfBoundsException | NumberFormatException e) {
        throw new IllegalArgumentException(
            "'" + spec + "': '" + part + "' is not OPTION=NUMBER", e);
      }
    }
    return Policies.named(parts.get(0), options);
  }
}
