package dev.warmpath.router.routing;

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
  private static final CacheAwarePolicy.Thresholds CACHE_AWARE =
      CacheAwarePolicy.Thresholds.DEFAULT;
  private static final LlmdWeightedPolicy.Weights LLMD = LlmdWeightedPolicy.Weights.DEFAULT;
  private static final LlmdAffinityPolicy.Limits AFFINITY = LlmdAffinityPolicy.Limits.DEFAULT;
  private static final DynamoPolicy.Weights DYNAMO = DynamoPolicy.Weights.DEFAULT;

  /** All there are; a new policy is one more entry. */
  private static final Map<String, Kind> KINDS =
      Map.ofEntries(
          kind("random", Map.of(), options -> new RandomPolicy()),
          kind("round-robin", Map.of(), options -> new RoundRobinPolicy()),
          kind("least-requests", Map.of(), options -> new LeastRequestsPolicy()),
          kind("power-of-two", Map.of(), options -> new PowerOfTwoPolicy()),
          kind(
              "consistent-hash",
              Map.of("load-bound", ConsistentHashPolicy.DEFAULT_LOAD_BOUND),
              options -> new ConsistentHashPolicy(options.applyAsDouble("load-bound"))),
          kind(
              "cache-aware",
              Map.of(
                  "cache-threshold", CACHE_AWARE.cache(),
                  "balance-abs-threshold", CACHE_AWARE.balanceAbs(),
                  "balance-rel-threshold", CACHE_AWARE.balanceRel()),
              options -> new CacheAwarePolicy(thresholds(options))),
          kind(
              "smg",
              Map.of("overlap-decay", DYNAMO.overlapDecay()),
              options -> new SmgPolicy(options.applyAsDouble("overlap-decay"))),
          kind("aibrix", Map.of(), options -> new AibrixPolicy()),
          kind(
              "llm-d-weighted",
              Map.of(
                  "prefix-weight", LLMD.prefix(),
                  "kv-use-weight", LLMD.kvUse(),
                  "queue-weight", LLMD.queue()),
              options -> new LlmdWeightedPolicy(llmdWeights(options))),
          kind(
              "llm-d-affinity",
              Map.of(
                  "affinity-threshold", AFFINITY.affinityThreshold(),
                  "prefill-tokens-per-second", AFFINITY.tokensPerSecond(),
                  "penalty-millis", AFFINITY.penaltyMillis()),
              options -> new LlmdAffinityPolicy(limits(options))),
          kind(
              "dynamo",
              Map.of(
                  "prefill-weight", DYNAMO.prefill(),
                  "overlap-credit", DYNAMO.overlapCredit(),
                  "overlap-decay", DYNAMO.overlapDecay()),
              options -> new DynamoPolicy(dynamoWeights(options))),
          kind("conductor", Map.of(), options -> new ConductorPolicy()),
          kind("preble", Map.of(), options -> new PreblePolicy()),
          kind("lmetric", Map.of(), options -> new LmetricPolicy()),
          kind(
              "sticky",
              Map.of("stay-factor", StickyPolicy.DEFAULT_STAY_FACTOR),
              options -> new StickyPolicy(options.applyAsDouble("stay-factor"))),
          kind(
              "warm",
              Map.of(
                  "miss-weight", WARM.missWeight(),
                  "eviction-weight", WARM.evictionWeight(),
                  "decode-weight", WARM.decodeWeight(),
                  "memory-weight", WARM.memoryWeight(),
                  "stream-weight", WARM.streamWeight(),
                  "hold-above", WARM.holdAbove()),
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

  private static Map.Entry<String, Kind> kind(
      String name, Map<String, Double> defaults, Function<ToDoubleFunction<String>, Policy> make) {
    return Map.entry(name, new Kind(defaults, make));
  }

  private static CacheAwarePolicy.Thresholds thresholds(ToDoubleFunction<String> options) {
    return new CacheAwarePolicy.Thresholds(
        options.applyAsDouble("cache-threshold"),
        options.applyAsDouble("balance-abs-threshold"),
        options.applyAsDouble("balance-rel-threshold"));
  }

  private static LlmdWeightedPolicy.Weights llmdWeights(ToDoubleFunction<String> options) {
    return new LlmdWeightedPolicy.Weights(
        options.applyAsDouble("prefix-weight"),
        options.applyAsDouble("kv-use-weight"),
        options.applyAsDouble("queue-weight"));
  }

  private static LlmdAffinityPolicy.Limits limits(ToDoubleFunction<String> options) {
    return new LlmdAffinityPolicy.Limits(
        options.applyAsDouble("affinity-threshold"),
        options.applyAsDouble("prefill-tokens-per-second"),
        options.applyAsDouble("penalty-millis"));
  }

  private static DynamoPolicy.Weights dynamoWeights(ToDoubleFunction<String> options) {
    return new DynamoPolicy.Weights(
        options.applyAsDouble("prefill-weight"),
        options.applyAsDouble("overlap-credit"),
        options.applyAsDouble("overlap-decay"));
  }

  private static WarmPolicy.Weights weights(ToDoubleFunction<String> options) {
    return new WarmPolicy.Weights(
        options.applyAsDouble("miss-weight"),
        options.applyAsDouble("eviction-weight"),
        options.applyAsDouble("decode-weight"),
        options.applyAsDouble("memory-weight"),
        options.applyAsDouble("stream-weight"),
        options.applyAsDouble("hold-above"));
  }

  private record Kind(
      Map<String, Double> defaults, Function<ToDoubleFunction<String>, Policy> make) {
    String offer() {
      return defaults.isEmpty()
          ? "it has none"
          : "it has " + String.join(", ", new TreeSet<>(defaults.keySet()));
    }
  }

  /** Any candidate, each as likely as the others. */
  static final class RandomPolicy implements Policy {

    private static final Score SAME = Score.of();

    @Override
    public String name() {
      return "random";
    }

    @Override
    public int choose(RoutingRequest request, Candidates candidates) {
      return (int) Long.remainderUnsigned(request.draw(), candidates.count());
    }

    @Override
    public String reason(RoutingRequest request, Candidates candidates, int winner) {
      return "random";
    }

    @Override
    public Score score(RoutingRequest request, Candidates candidates, int row) {
      return SAME;
    }
  }

  /**
   * The candidate whose last turn is longest ago. With the same candidates each time that is strict
   * rotation, and it stays fair when replicas come, go or serve different models.
   */
  static final class RoundRobinPolicy implements Policy {

    @Override
    public String name() {
      return "round-robin";
    }

    @Override
    public int choose(RoutingRequest request, Candidates candidates) {
      return Lowest.of(request, candidates, candidates::lastTurn);
    }

    @Override
    public String reason(RoutingRequest request, Candidates candidates, int winner) {
      return "turn";
    }

    @Override
    public Score score(RoutingRequest request, Candidates candidates, int row) {
      return Score.of(Score.term("last_turn", (double) candidates.lastTurn(row)));
    }
  }
}
