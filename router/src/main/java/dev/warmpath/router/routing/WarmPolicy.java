package dev.warmpath.router.routing;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntToDoubleFunction;

/**
 * The candidate whose choice costs everyone the least time, in milliseconds: {@code queue + load +
 * (1+k)·T(c, n) + decode}; load is what reading back from slower memory costs beyond the queue
 * ({@link Candidates#loadMillis}).
 *
 * <p>A miss is paid in this request's own wait, and again by others: {@code k = missWeight·w +
 * evictionWeight·u² + 1/2 + streamWeight·s}. w is the median number of prompts that wait at an
 * engine: about so many will wait behind this one. u is the part of the engine's KV cache that
 * requests in flight use, s the streams there that the prefill holds up. So a fleet with idle
 * engines gives each request the engine that answers it first, but keeps siblings together, and the
 * nearer the fleet comes to its limit, the more the work counts that a hit saves.
 *
 * <p>What a request evicts is paid by those who would have used it again: {@code eviction =
 * memoryWeight·T(e, n)}, e being the tokens of {@link CacheAges#lostTokens}. Free memory costs
 * nothing, nor does what is the oldest everywhere. So chats spread over all caches.
 *
 * <p>Where sessions need more memory than there is, each turn evicts what another one's next turn
 * needs, and all get slow together. There those whose contexts are held go on, and the others'
 * turns {@linkplain #holds wait}: while they would evict what is going to be used again, more than
 * {@code holdAbove} tokens for each that they store (the working sets, Denning, 1968), and
 * computing what waits takes longer than clients pause between turns.
 *
 * <p>A prefix that too few engines hold ({@link PrefixDemand}) is no miss where it is missing: the
 * copy serves those that come later, and costs nothing here. So what many share spreads before its
 * holders are overloaded. While a holder costs no more, it is preferred.
 *
 * <p>In a fleet that splits requests over two engines the price has two terms more: what the answer
 * costs there, and for k how many streams and prompts the prefill holds up there ({@link
 * Candidates#price}).
 *
 * <p>Where other routers often choose at the same time, each takes another one of those that cost
 * up to 10 ms and a tenth of the prefill more and hold as much ({@link Lowest#atPlace}).
 *
 * <p>{@code decode = decodeWeight·r·step(K)} is how much the r requests in flight, with K tokens of
 * context, slow it down and are slowed. When the prompt's tokens are not known T is 0 for all, and
 * load alone decides.
 *
 * <p>Thread-safe.
 */
public final class WarmPolicy implements RankingPolicy {

  private static final double BASE_REPEATS = 0.5;

  /** Who lacks no more of a prompt is served at once. */
  private static final double SMALL_SHARE = 0.1;

  /** Of the time from one turn to the next, which contains the wait for both. */
  private static final double LONG_WAIT = 0.125;

  /* So much more is nearly as low: docs/decisions/routers-take-places.md. */
  private static final double SLACK_MILLIS = 10;
  private static final double SLACK_SHARE = 0.1;

  private final Weights weights;
  private final PrefixDemand demand = new PrefixDemand();
  private final CacheAges ages = new CacheAges();

  /**
   * The constants of the formula.
   *
   * @param missWeight how many requests come to stand behind a prompt for each that waits now
   * @param evictionWeight how often a miss is paid again where the KV cache is in use to the last
   *     block
   * @param decodeWeight share of a decode step that one request in flight costs
   * @param memoryWeight what a millisecond is worth that others need to compute again what is
   *     evicted
   * @param streamWeight what a millisecond is worth by which a stream is held up
   * @param holdAbove how many tokens that are used again a request may evict for each that it
   *     stores; it waits above that while the fleet is overloaded; nothing waits for 1 or more
   */
  public record Weights(
      double missWeight,
      double evictionWeight,
      double decodeWeight,
      double memoryWeight,
      double streamWeight,
      double holdAbove) {

    /**
     * What was good all round on recorded workloads; docs/decisions/price-a-miss-by-what-waits.md
     * has the sweep.
     */
    public static final Weights DEFAULT = new Weights(1, 2, 0.25, 1, 0.03, 0.4);

    public Weights {
      requireWeight("missWeight", missWeight);
      requireWeight("evictionWeight", evictionWeight);
      requireWeight("decodeWeight", decodeWeight);
      requireWeight("memoryWeight", memoryWeight);
      requireWeight("streamWeight", streamWeight);
      requireWeight("holdAbove", holdAbove);
    }

    private static void requireWeight(String name, double value) {
      if (!(value >= 0 && value <= 1e6)) {
        throw new IllegalArgumentException(name + "=" + value + ", must be from 0 to 1000000");
      }
    }
  }

  public WarmPolicy(Weights weights) {
    this.weights = weights;
  }

  @Override
  public String name() {
    return "warm";
  }

  /** The lowest; with other routers, who choose at the same time, one that is nearly as low. */
  @Override
  public int choose(RoutingRequest request, Candidates candidates) {
    Price price = price(request, candidates);
    int best = Lowest.of(request, candidates, price::cost, price::tie);
    double slack = SLACK_MILLIS + SLACK_SHARE * price.prefillMillis(best);
    return Lowest.atPlace(request, candidates, best, slack);
  }

  @Override
  public Ranking rank(RoutingRequest request, Candidates candidates) {
    return price(request, candidates);
  }

  private Price price(RoutingRequest request, Candidates candidates) {
    double behind = weights.missWeight * candidates.medianWaiting() + BASE_REPEATS;
    int size = request.blocks().blockSizeTokens();
    int copied = size * demand.underHeldBlocks(request, candidates);
    double[] lost = ages.lostTokens(request, candidates);
    return new Price(request, candidates, weights, behind, copied, row -> lost[row]);
  }

  @Override
  public boolean holds(RoutingRequest request, Candidates candidates, int winner, long heldTokens) {
    if (candidates.requests(winner) == 0 || !isLongWait(request, candidates, winner, heldTokens)) {
      return false;
    }
    int missed = ages.missedTokens(request, candidates, winner);
    return missed > SMALL_SHARE * request.knownTokens()
        && ages.lostTokens(request, candidates, winner, missed) > weights.holdAbove() * missed;
  }

  /** Whether computing what waits takes longer than clients pause. */
  private boolean isLongWait(
      RoutingRequest request, Candidates candidates, int winner, long heldTokens) {
    int whole = request.knownTokens();
    double perToken = candidates.cost(winner).millis(whole, whole) / whole;
    double ofHeld = perToken * heldTokens / candidates.count();
    double turnMillis = ages.medianReturnMillis();
    return turnMillis > 0
        && candidates.prefillBacklogMillis(winner) + ofHeld >= LONG_WAIT * turnMillis;
  }

  @Override
  public boolean remembers() {
    return true;
  }

  @Override
  public long[] committed(RoutingRequest request, Candidates candidates, int winner) {
    ages.use(request, candidates, winner);
    return demand.add(request, candidates);
  }

  @Override
  public void remember(long[] note, int engine) {
    demand.add(note);
  }

  @Override
  public double reuseChance(int engine, long nowNanos) {
    return ages.reuseChance(engine, nowNanos);
  }

  @Override
  public double hitRateChange(int[] engines, double times, long nowNanos) {
    return ages.hitRateChange(engines, times, nowNanos);
  }

  @Override
  public double memoryShare() {
    return Math.max(demand.memoryShare(), ages.memoryShare());
  }

  /**
   * What a choice costs.
   *
   * @param behind the part of k that is the same everywhere
   * @param copied leading tokens that more engines should hold
   * @param lost tokens that others would have to compute again, for each row
   */
  private record Price(
      RoutingRequest request,
      Candidates candidates,
      Weights weights,
      double behind,
      int copied,
      IntToDoubleFunction lost)
      implements Ranking {

    @Override
    public double cost(int row) {
      return candidates.prefillBacklogMillis(row)
          + candidates.loadMillis(row)
          + (1 + repeats(row)) * prefillMillis(row)
          + evictionMillis(row)
          + decodeMillis(row);
    }

    @Override
    public long tie(int row) {
      return -candidates.creditTokens(request, row);
    }

    @Override
    public Score score(int row) {
      double prefill = prefillMillis(row);
      double loading = candidates.loadMillis(row);
      List<Score.Term> terms = new ArrayList<>();
      terms.add(Score.term("backlog_millis", candidates.prefillBacklogMillis(row)));
      if (loading > 0) {
        terms.add(Score.term("load_back_millis", loading));
      }
      terms.add(Score.term("prefill_millis", prefill));
      terms.add(Score.term("repeat_millis", repeats(row) * prefill));
      if (lost.applyAsDouble(row) > 0) {
        terms.add(Score.term("eviction_millis", evictionMillis(row)));
      }
      terms.add(Score.term("decode_millis", decodeMillis(row)));
      return new Score(terms);
    }

    @Override
    public String reason(int winner) {
      return candidates.creditTokens(request, winner) < copied
          ? "spread"
          : candidates.reason(request, winner);
    }

    /** T: the prefill of what is missing there and need not be copied. */
    private double prefillMillis(int row) {
      int whole = request.knownTokens();
      int missed = Math.min(candidates.uncachedTokens(request, row), Math.max(0, whole - copied));
      return candidates.cost(row).millis(missed, whole);
    }

    /** k: how often a miss is paid again. */
    private double repeats(int row) {
      double use = candidates.kvUse(row);
      double own = behind + weights.evictionWeight * use * use;
      double streams = weights.streamWeight * candidates.running(row);
      return own + Math.max(streams, candidates.prefillsOfOthers(row));
    }

    /** What it takes to compute again what is evicted and would have been used again. */
    private double evictionMillis(int row) {
      int tokens = (int) lost.applyAsDouble(row);
      int prompt = Math.max(tokens, request.knownTokens());
      return weights.memoryWeight * candidates.cost(row).millis(tokens, prompt);
    }

    private double decodeMillis(int row) {
      double step = candidates.decodeCost(row).millis(candidates.contextTokens(row));
      return weights.decodeWeight * candidates.requests(row) * step + candidates.answerMillis(row);
    }
  }

  /**
   * Finds prefixes that too few engines hold, such as a system prompt that all sessions share.
   *
   * <p>A prefix that the share f of recent requests begin with keeps f·N of N engines busy, so that
   * many should hold it: with fewer, its holders get more than their part of the load. Demand is
   * counted at the depths where what the candidates hold ends, for there prompts part; at most the
   * four deepest of each request.
   *
   * <p>It remembers the last 32 requests an engine, at most 16,384, in some 6 MB.
   *
   * <p>Thread-safe.
   */
  static final class PrefixDemand {

    private static final int DEPTHS = 4;
    private static final int REQUESTS_AN_ENGINE = 32;
    private static final int MOST_REQUESTS = 16_384;

    /* Fewer may be a single burst. */
    private static final int FEWEST_REQUESTS_AN_ENGINE = 8;

    private volatile int window = REQUESTS_AN_ENGINE;
    private final ArrayDeque<long[]> recent = new ArrayDeque<>(); // keys counted for each request
    private final Map<Long, Integer> requestsByKey = new HashMap<>();

    /** Leading blocks of the prompt that more engines should hold than do; 0 if enough do. */
    int underHeldBlocks(RoutingRequest request, Candidates candidates) {
      int depth = depthBelow(Integer.MAX_VALUE, request, candidates);
      for (int look = 0; depth > 0 && look < DEPTHS; look++) {
        if (wanted(request.blocks().key(depth - 1), candidates.count())
            > holders(depth, request, candidates)) {
          return depth;
        }
        depth = depthBelow(depth, request, candidates);
      }
      return 0;
    }

    /**
     * Counts a request that was routed, with the candidates as they were.
     *
     * @return the keys that it counts for
     */
    long[] add(RoutingRequest request, Candidates candidates) {
      long[] keys = new long[DEPTHS];
      int count = 0;
      int depth = depthBelow(Integer.MAX_VALUE, request, candidates);
      while (depth > 0 && count < DEPTHS) {
        keys[count++] = request.blocks().key(depth - 1);
        depth = depthBelow(depth, request, candidates);
      }
      long[] counted = Arrays.copyOf(keys, count);
      window = Math.min(MOST_REQUESTS, REQUESTS_AN_ENGINE * candidates.count());
      add(counted);
      return counted;
    }

    /**
     * Counts a request for these keys, the window being as large as for the last one routed here.
     */
    synchronized void add(long[] keys) {
      for (long key : keys) {
        requestsByKey.merge(key, 1, Integer::sum);
      }
      recent.add(keys);
      while (recent.size() > window) {
        for (long key : recent.remove()) {
          requestsByKey.computeIfPresent(key, (k, count) -> count == 1 ? null : count - 1);
        }
      }
    }

    /** f·N. */
    private synchronized double wanted(long key, int engines) {
      int requests = Math.max(recent.size(), FEWEST_REQUESTS_AN_ENGINE * engines);
      return (double) requestsByKey.getOrDefault(key, 0) * engines / requests;
    }

    /** The most blocks below {@code bound} at which what a candidate holds ends; 0 if none does. */
    private static int depthBelow(int bound, RoutingRequest request, Candidates candidates) {
      int deepest = 0;
      for (int row = 0; row < candidates.count(); row++) {
        int depth = depth(row, request, candidates);
        deepest = depth < bound ? Math.max(deepest, depth) : deepest;
      }
      return deepest;
    }

    private static int holders(int depth, RoutingRequest request, Candidates candidates) {
      int holders = 0;
      for (int row = 0; row < candidates.count(); row++) {
        holders += depth(row, request, candidates) >= depth ? 1 : 0;
      }
      return holders;
    }

    private static int depth(int row, RoutingRequest request, Candidates candidates) {
      return Math.min(candidates.creditBlocks(request, row), request.blocks().count());
    }

    /** The part of its room that is taken, 0 to 1. */
    synchronized double memoryShare() {
      return (double) recent.size() / MOST_REQUESTS;
    }
  }
}
