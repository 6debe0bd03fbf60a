package dev.warmpath.router.routing;

/**
 * The candidate that got the longest part of the prompt before, as long as load is even. It needs
 * no events: it remembers what it routed.
 *
 * <ul>
 *   <li>{@code max r − min r > balance-abs-threshold} and {@code max r > balance-rel-threshold·min
 *       r}: the fewest requests in flight;
 *   <li>else, if the longest match is more than {@code cache-threshold} of the prompt: the longest
 *       match, of equal ones the fewest requests in flight;
 *   <li>else the candidate of which the fewest blocks are remembered.
 * </ul>
 *
 * A prompt whose tokens are not known goes where the fewest are in flight.
 *
 * <p>Source: SGLang's router, {@code cache_aware} with its defaults 64, 1.5 and 0.3. SGLang matches
 * characters of text, this policy whole blocks of tokens. The tree has at most {@value #TREE_BYTES}
 * bytes, for all engines together; the prefixes routed longest ago go first.
 *
 * <p>Not where engines tell events: it knows nothing of what they evict, of restarts, or of what
 * other routers send. A long prefix that all share keeps all requests on one engine up to the
 * thresholds.
 *
 * <p>Thread-safe.
 */
final class CacheAwarePolicy implements RankingPolicy {

  static final long TREE_BYTES = 64L << 20;

  private final Thresholds thresholds;
  private final RoutedPrefixes routed = new RoutedPrefixes(TREE_BYTES);

  /**
   * The three thresholds, each from 0.
   *
   * @param cache share of the prompt
   * @param balanceAbs requests in flight
   * @param balanceRel factor between the most and the fewest requests in flight
   */
  public record Thresholds(double cache, double balanceAbs, double balanceRel) {

    /** As SGLang has them. */
    public static final Thresholds DEFAULT = new Thresholds(0.3, 64, 1.5);

    public Thresholds {
      Options.require("cache-threshold", cache, 0, 1);
      Options.require("balance-abs-threshold", balanceAbs);
      Options.require("balance-rel-threshold", balanceRel);
    }
  }

  public CacheAwarePolicy(Thresholds thresholds) {
    this.thresholds = thresholds;
  }

  @Override
  public String name() {
    return "cache-aware";
  }

  @Override
  public Ranking rank(RoutingRequest request, Candidates candidates) {
    InFlight inFlight = InFlight.of(candidates);
    boolean uneven =
        inFlight.range() > thresholds.balanceAbs
            && inFlight.most() > thresholds.balanceRel * inFlight.least();
    if (uneven || request.blocks().count() == 0) {
      return new FewestRequests(candidates);
    }
    int[] matched = routed.matchedBlocks(request.blocks(), candidates);
    int longest = 0;
    for (int blocks : matched) {
      longest = Math.max(longest, blocks);
    }
    return longest > thresholds.cache * request.lengthBlocks()
        ? new LongestMatch(candidates, matched)
        : new SmallestTree(candidates, routed);
  }

  @Override
  public boolean remembers() {
    return true;
  }

  @Override
  public long[] committed(RoutingRequest request, Candidates candidates, int winner) {
    routed.add(request.blocks(), candidates.number(winner));
    return NOTHING;
  }

  @Override
  public double memoryShare() {
    return (double) routed.bytes() / TREE_BYTES;
  }

  private static final class LongestMatch implements Ranking {
    private final Candidates candidates;
    private final int[] matched;

    LongestMatch(Candidates candidates, int[] matched) {
      this.candidates = candidates;
      this.matched = matched;
    }

    @Override
    public double cost(int row) {
      return -matched[row];
    }

    @Override
    public long tie(int row) {
      return candidates.requests(row);
    }

    @Override
    public Score score(int row) {
      return Score.of(Score.term("matched_blocks", cost(row)));
    }

    @Override
    public String reason(int winner) {
      return "cache";
    }
  }

  private record SmallestTree(Candidates candidates, RoutedPrefixes routed) implements Ranking {

    @Override
    public double cost(int row) {
      return routed.blocks(candidates.number(row));
    }

    @Override
    public Score score(int row) {
      return Score.of(Score.term("remembered_blocks", cost(row)));
    }

    @Override
    public String reason(int winner) {
      return "cold";
    }
  }
}
