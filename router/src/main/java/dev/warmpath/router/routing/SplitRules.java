package dev.warmpath.router.routing;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/**
 * Every {@link SplitRule} by the name that a configuration gives it, with its options.
 *
 * <ul>
 *   <li>{@code cheapest}: what costs less; splitting must save {@code margin} of the cost.
 *   <li>{@code prompt-tokens}: prompts of {@code min-tokens} or more.
 *   <li>{@code new-tokens}: when {@code min-tokens} or more, and {@code min-share} of the prompt,
 *       are not cached where it would be served alone (Dynamo's constants).
 *   <li>{@code decode-uncached}: when the decode's engine lacks {@code min-tokens} or more (llm-d's
 *       {@code nonCachedTokens}).
 *   <li>{@code always}, {@code never}.
 * </ul>
 */
public final class SplitRules {

  private static final double DYNAMO_TOKENS = 2_048;
  private static final double DYNAMO_SHARE = 0.7;
  private static final double LLMD_TOKENS = 512;

  private record Kind(
      Map<String, Double> defaults, Function<ToDoubleFunction<String>, SplitRule> make) {}

  /** Nothing is split. */
  public static final SplitRule NEVER = ways -> false;

  private static final Map<String, Kind> KINDS =
      Map.of(
          "cheapest",
          new Kind(
              Map.of("margin", 0.0),
              options -> {
                double most = 1 - options.applyAsDouble("margin");
                return ways -> ways.apartMillis() < most * ways.aloneMillis();
              }),
          "prompt-tokens",
          new Kind(
              Map.of("min-tokens", DYNAMO_TOKENS),
              options -> {
                double least = options.applyAsDouble("min-tokens");
                return ways -> ways.promptTokens() >= least;
              }),
          "new-tokens",
          new Kind(
              Map.of("min-tokens", DYNAMO_TOKENS, "min-share", DYNAMO_SHARE),
              options -> {
                double least = options.applyAsDouble("min-tokens");
                double share = options.applyAsDouble("min-share");
                return ways ->
                    ways.uncachedTokens() >= least
                        && ways.uncachedTokens() >= share * ways.promptTokens();
              }),
          "decode-uncached",
          new Kind(
              Map.of("min-tokens", LLMD_TOKENS),
              options -> {
                double least = options.applyAsDouble("min-tokens");
                return ways -> ways.uncachedAtDecode() >= least;
              }),
          "always",
          new Kind(Map.of(), options -> ways -> true),
          "never",
          new Kind(Map.of(), options -> NEVER));

  /** What is chosen by default. */
  public static final SplitRule CHEAPEST = named("cheapest", Map.of());

  private SplitRules() {}

  /** The names of all rules, in alphabetical order. */
  public static List<String> names() {
    return List.copyOf(new TreeSet<>(KINDS.keySet()));
  }

  /**
   * The rule called {@code name}.
   *
   * @param given the options that differ from their defaults
   * @throws IllegalArgumentException for a name or an option that does not exist, saying which do
   */
  public static SplitRule named(String name, Map<String, Double> given) {
    Kind kind = KINDS.get(name);
    if (kind == null) {
      throw new IllegalArgumentException(
          "unknown rule '" + name + "', must be one of " + String.join(", ", names()));
    }
    Map<String, Double> options = new HashMap<>(kind.defaults());
    given.forEach((option, value) -> {
      if (options.replace(option, value) == null) {
        throw new IllegalArgumentException(
            "rule '%s' has no option '%s', it has %s"
                .formatted(name, option, new TreeSet<>(kind.defaults().keySet())));
      }
    });
    return kind.make().apply(option -> Objects.requireNonNull(options.get(option)));
  }
}
