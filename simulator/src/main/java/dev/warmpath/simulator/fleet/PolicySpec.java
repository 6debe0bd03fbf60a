package dev.warmpath.simulator.fleet;

import dev.warmpath.router.routing.Policies;
import dev.warmpath.router.routing.Policy;
import dev.warmpath.router.routing.SplitRule;
import dev.warmpath.router.routing.SplitRules;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;

/**
 * A policy or a split rule as users write it: its name, and options that differ from their
 * defaults, as in {@code warm:miss-weight=4} and {@code prompt-tokens:min-tokens=4096}.
 */
public final class PolicySpec {

  private PolicySpec() {}

  /**
   * A new policy.
   *
   * @throws IllegalArgumentException if there is none such, saying which there are
   */
  public static Policy make(String spec) {
    return make(spec, Policies::named);
  }

  /**
   * A split rule.
   *
   * @throws IllegalArgumentException if there is none such, saying which there are
   */
  public static SplitRule rule(String spec) {
    return make(spec, SplitRules::named);
  }

  private static <T> T make(String spec, BiFunction<String, Map<String, Double>, T> named) {
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
    return named.apply(parts.get(0), options);
  }
}
