package dev.warmpath.router.routing;

import java.util.HashMap;
import java.util.Map;

/**
 * The lowest product of prefill and decode load, {@code (q + c)·(r + 1)}: q queued tokens, c of
 * this prompt's to compute, r requests in flight. Equal products go by c, then r.
 *
 * <p>Requests whose prompts begin alike are of one class ({@link RoutingRequest#prefixHash}). When
 * one class makes a larger share of the last {@value ClassShares#WINDOW} requests than its holders
 * are of the fleet, and each of them has more than twice as many requests in flight as the others
 * on average, it is a hotspot: its next request goes to an engine that does not hold its prefix,
 * until there are enough holders. A class counts from {@value #LEAST_REQUESTS} requests on.
 *
 * <p>Source: LMetric (arXiv 2603.15202, March 2026); the detector's numbers are ours. Remembers
 * {@value ClassShares#WINDOW} hashes.
 *
 * <p>Not for fleets of engines of different speed: it counts tokens, not time.
 *
 * <p>Thread-safe.
 */
final class LmetricPolicy implements RankingPolicy {

  private static final int LEAST_REQUESTS = 32;

  private final ClassShares classes = new ClassShares();

  @Override
  public String name() {
    return "lmetric";
  }

  @Override
  public Ranking rank(RoutingRequest request, Candidates candidates) {
    return new Product(request, candidates, isHotspot(request, candidates));
  }

  /** The product for one candidate. */
  public static double cost(RoutingRequest request, Candidates candidates, int row) {
    double tokens = (double) candidates.queuedTokens(row) + uncached(request, candidates, row);
    return tokens * (candidates.requests(row) + 1.0);
  }

  private static int uncached(RoutingRequest request, Candidates candidates, int row) {
    return candidates.uncachedTokens(request, row);
  }

  private boolean isHotspot(RoutingRequest request, Candidates candidates) {
    int alike = request.prefixHash() == 0 ? 0 : classes.requests(request.prefixHash());
    if (alike < LEAST_REQUESTS) {
      return false;
    }
    int holders = 0;
    int leastOfHolders = Integer.MAX_VALUE;
    long requestsOfOthers = 0;
    for (int row = 0; row < candidates.count(); row++) {
      if (candidates.creditTokens(request, row) > 0) {
        holders++;
        leastOfHolders = Math.min(leastOfHolders, candidates.requests(row));
      } else {
        requestsOfOthers += candidates.requests(row);
      }
    }
    int others = candidates.count() - holders;
    return holders > 0
        && others > 0
        && (long) alike * candidates.count() > (long) holders * classes.all()
        && leastOfHolders > 2.0 * Math.max(1, (double) requestsOfOthers / others);
  }

  @Override
  public boolean remembers() {
    return true;
  }

  @Override
  public long[] committed(RoutingRequest request, Candidates candidates, int winner) {
    classes.add(request.prefixHash());
    return new long[] {request.prefixHash()};
  }

  @Override
  public void remember(long[] note, int engine) {
    classes.add(note[0]);
  }

  private record Product(RoutingRequest request, Candidates candidates, boolean hotspot)
      implements Ranking {

    @Override
    public double cost(int row) {
      return LmetricPolicy.cost(request, candidates, row) + ruledOut(row);
    }

    private double ruledOut(int row) {
      return hotspot && candidates.creditTokens(request, row) > 0 ? RULED_OUT : 0;
    }

    @Override
    public long tie(int row) {
      return (long) uncached(request, candidates, row) << Integer.SIZE | candidates.requests(row);
    }

    @Override
    public Score score(int row) {
      return Score.of(
          Score.term("tokens_by_requests", LmetricPolicy.cost(request, candidates, row)),
          Score.term("hotspot", ruledOut(row)));
    }

    @Override
    public String reason(int winner) {
      return hotspot ? "hotspot" : candidates.reason(request, winner);
    }
  }

  /**
   * How many of the last {@value #WINDOW} requests were of each class.
   *
   * <p>Thread-safe.
   */
  static final class ClassShares {

    static final int WINDOW = 1024;

    private final long[] last = new long[WINDOW];
    private final Map<Long, Integer> counts = new HashMap<>();
    private long added;

    /** A request of this class was routed. */
    synchronized void add(long requestClass) {
      int place = (int) (added % WINDOW);
      if (added++ >= WINDOW) {
        counts.computeIfPresent(last[place], (gone, count) -> count == 1 ? null : count - 1);
      }
      last[place] = requestClass;
      counts.merge(requestClass, 1, Integer::sum);
    }

    /** Requests of this class. */
    synchronized int requests(long requestClass) {
      return counts.getOrDefault(requestClass, 0);
    }

    /** Requests of all classes. */
    synchronized int all() {
      return (int) Math.min(added, WINDOW);
    }

    /** How many classes are remembered. */
    synchronized int classes() {
      return counts.size();
    }
  }
}
