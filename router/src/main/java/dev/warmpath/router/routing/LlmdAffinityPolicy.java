package dev.warmpath.router.routing;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Of those that hold nearly as much of the prompt as the best holder, the one with the fewest
 * queued tokens; of equal ones the one with the fewest tokens of this prompt to compute.
 *
 * <p>"Nearly" is {@code affinity-threshold} (0.80) of the longest match. All candidates are
 * compared if waiting for a holder costs more than computing elsewhere: if the shortest time {@code
 * (q + c)/prefill-tokens-per-second} (15,928) of a holder is more than {@code penalty-millis}
 * (18,000) above the shortest of all. A prompt that none holds goes to the engine whose last such
 * prompt is longest ago.
 *
 * <p>Source: llm-d's inference scheduler (July 2026). Remembers the last turn of {@value #ENGINES}
 * engines.
 *
 * <p>Not for fleets with another or an uneven speed until the tokens per second are set.
 *
 * <p>Thread-safe.
 */
final class LlmdAffinityPolicy implements RankingPolicy {

  private static final int ENGINES = 1 << 16;
  private static final double MILLIS_PER_SECOND = 1000;

  private final Limits limits;
  private final AtomicLong coldTurns = new AtomicLong();
  private final RecentMap<Integer, Long> lastColdTurns = new RecentMap<>(ENGINES);

  /**
   * The constants of the policy.
   *
   * @param affinityThreshold share of the longest match, 0 to 1
   * @param tokensPerSecond what an engine computes, above 0
   * @param penaltyMillis the longest wait beyond that of the others, from 0
   */
  public record Limits(double affinityThreshold, double tokensPerSecond, double penaltyMillis) {

    /** As llm-d has them. */
    public static final Limits DEFAULT = new Limits(0.8, 15_928, 18_000);

    public Limits {
      Options.require("affinity-threshold", affinityThreshold, 0, 1);
      Options.require("prefill-tokens-per-second", tokensPerSecond, 1, 1e6);
      Options.require("penalty-millis", penaltyMillis);
    }
  }

  public LlmdAffinityPolicy(Limits limits) {
    this.limits = limits;
  }

  @Override
  public String name() {
    return "llm-d-affinity";
  }

  @Override
  public Ranking rank(RoutingRequest request, Candidates candidates) {
    int longest = longestMatch(request, candidates);
    if (longest == 0) {
      return new LongestIdle(candidates, lastColdTurns);
    }
    double least = limits.affinityThreshold * longest;
    double holders = Double.POSITIVE_INFINITY;
    double all = Double.POSITIVE_INFINITY;
    for (int row = 0; row < candidates.count(); row++) {
      double tokens = tokens(request, candidates, row);
      boolean holds = candidates.creditTokens(request, row) >= least;
      holders = holds ? Math.min(holders, tokens) : holders;
      all = Math.min(all, tokens);
    }
    double penalty = (holders - all) / limits.tokensPerSecond * MILLIS_PER_SECOND;
    return new Queue(request, candidates, penalty > limits.penaltyMillis ? 0 : least);
  }

  private static int longestMatch(RoutingRequest request, Candidates candidates) {
    int longest = 0;
    for (int row = 0; row < candidates.count(); row++) {
      longest = Math.max(longest, candidates.creditTokens(request, row));
    }
    return longest;
  }

  private static double tokens(RoutingRequest request, Candidates candidates, int row) {
    return (double) candidates.queuedTokens(row) + candidates.uncachedTokens(request, row);
  }

  @Override
  public boolean remembers() {
    return true;
  }

  @Override
  public long[] committed(RoutingRequest request, Candidates candidates, int winner) {
    if (longestMatch(request, candidates) == 0) {
      lastColdTurns.put(candidates.number(winner), coldTurns.incrementAndGet());
    }
    return NOTHING;
  }

  @Override
  public double memoryShare() {
    return lastColdTurns.share();
  }

  private record LongestIdle(Candidates candidates, RecentMap<Integer, Long> lastColdTurns)
      implements Ranking {

    @Override
    public double cost(int row) {
      Long turn = lastColdTurns.get(candidates.number(row));
      return turn == null ? 0 : turn;
    }

    @Override
    public Score score(int row) {
      return Score.of(Score.term("last_cold_turn", cost(row)));
    }

    @Override
    public String reason(int winner) {
      return "cold";
    }
  }

  private record Queue(RoutingRequest request, Candidates candidates, double leastMatch)
      implements Ranking {

    @Override
    public double cost(int row) {
      return candidates.queuedTokens(row) + ruledOut(row);
    }

    private double ruledOut(int row) {
      return candidates.creditTokens(request, row) >= leastMatch ? 0 : RULED_OUT;
    }

    @Override
    public long tie(int row) {
      return candidates.uncachedTokens(request, row);
    }

    @Override
    public Score score(int row) {
      return Score.of(
          Score.term("queued_tokens", (double) candidates.queuedTokens(row)),
          Score.term("short_match", ruledOut(row)));
    }

    @Override
    public String reason(int winner) {
      return leastMatch > 0 ? "cache" : "load";
    }
  }
}
