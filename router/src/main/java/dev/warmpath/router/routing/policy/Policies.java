package dev.warmpath.router.routing.policy;

import dev.warmpath.router.routing.Policy;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/** Every policy by the name that a configuration gives it, with its options. Thread-safe. */
public final class Policies {

  private static final WarmPolicy.Weights WARM = WarmPolicy.Weights.DEFAULT;

  /** All there are; a new policy is one more entry. */
  private static final Map<String, Kind> KINDS =
      Map.of(
          "random", new Kind(Map.of(), options -> new RandomPolicy()),
          "round-robin", new Kind(Map.of(), options -> new RoundRobinPolicy()),
          "least-requests", new Kind(Map.of(), options -> new LeastRequestsPolicy()),
          "consistent-hash",
              new Kind(
                  Map.of("load-bound", ConsistentHashPolicy.DEFAULT_LOAD_BOUND),
                  options -> new ConsistentHashPolicy(options.applyAsDouble("load-bound"))),
          "warm",
              new Kind(
                  Map.of(
                      "miss-weight", WARM.missWeight(),
                      "decode-weight", WARM.decodeWeight(),
                      "step-millis", WARM.stepMillis(),
                      "context-millis", WARM.contextMillis()),
                  options -> new WarmPolicy(weights(options))));

  private Policies() {}

  /** The names of all policies, in alphabetical order. */
  public static List<String> names() {
    return List.copyOf(new TreeSet<>(KINDS.keySet()));
  }

  /** The names of a policy's options and their defaults. */
  public static Map<String, Double> options(String name) {
    return kind(name).defaults();
  }

  /**
   * The policy called {@code name}.
   *
   * @param given the options that differ from their defaults
   * @throws IllegalArgumentException for a name, an option or a value that does not exist, saying
   *     which do
   */
  public static Policy named(String name, Map<String, Double> given) {
    Kind kind = kind(name);
    Map<String, Double> options = new HashMap<>(kind.defaults());
    for (Map.Entry<String, Double> option : given.entrySet()) {
      if (options.replace(option.getKey(), option.getValue()) == null) {
        throw new IllegalArgumentException(
            "policy '" + name + "' has no option '" + option.getKey() + "', " + kind.offer());
      }
    }
    return kind.make().apply(option -> Objects.requireNonNull(options.get(option)));
  }

  private static Kind kind(String name) {
    Kind kind = KINDS.get(name);
    if (kind == null) {
      throw new IllegalArgumentException(
          "unknown policy '" + name + "', must be one of " + String.join(", ", names()));
    }
    return kind;
  }

  private static WarmPolicy.Weights weights(ToDoubleFunction<String> options) {
    return new WarmPolicy.Weights(
        options.applyAsDouble("miss-weight"),
        options.applyAsDouble("decode-weight"),
        options.applyAsDouble("step-millis"),
        options.applyAsDouble("context-millis"));
  }

  private record Kind(
      Map<String, Double> defaults, Function<ToDoubleFunction<String>, Policy> make) {
    String offer() {
      return defaults.isEmpty()
          ? "it has none"
          : "it has " + String.join(", ", new TreeSet<>(defaults.keySet()));
    }
  }
}
