package dev.warmpath.router.routing;

import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Consistent hashing with bounded loads: the first candidate clockwise from the request's key that
 * carries at most {@code loadBound} times its fair share.
 *
 * <p>The key is the session's name, else how the prompt begins; a request with neither goes where
 * the fewest are in flight. A replica that comes takes over keys from all others and moves no key
 * between them; one that leaves gives its keys to all others.
 *
 * <p>A score is how far the candidate lies from the key, as a part of the ring, plus 2 if it is
 * full.
 *
 * <p>Thread-safe.
 */
final class ConsistentHashPolicy implements Policy {

  /** The default bound: a quarter above the fair share. */
  public static final double DEFAULT_LOAD_BOUND = 1.25;

  private final HashRing ring = new HashRing();
  private final double loadBound;

  /**
   * @param loadBound how far above its fair share of the requests in flight a candidate may come,
   *     above 1 (to 1,000,000, which is no bound)
   */
  public ConsistentHashPolicy(double loadBound) {
    if (!(loadBound > 1 && loadBound <= 1e6)) {
      throw new IllegalArgumentException(
          "loadBound=" + loadBound + ", must be above 1 and at most 1000000");
    }
    this.loadBound = loadBound;
  }

  @Override
  public String name() {
    return "consistent-hash";
  }

  @Override
  public int choose(RoutingRequest request, Candidates candidates) {
    if (!hasKey(request)) {
      return Lowest.of(request, candidates, candidates::requests);
    }
    long key = key(request);
    double most = mostRequests(candidates);
    return Lowest.of(
        request, candidates, row -> distance(candidates, row, key) + full(candidates, row, most));
  }

  @Override
  public String reason(RoutingRequest request, Candidates candidates, int winner) {
    return hasKey(request) ? request.sessionKey() == null ? "prefix" : "session" : "load";
  }

  @Override
  public Score score(RoutingRequest request, Candidates candidates, int row) {
    return hasKey(request)
        ? Score.of(
            Score.term("distance", distance(candidates, row, key(request))),
            Score.term("full", full(candidates, row, mostRequests(candidates))))
        : Score.of(Score.term("requests_in_flight", candidates.requests(row)));
  }

  private static boolean hasKey(RoutingRequest request) {
    return request.sessionKey() != null || request.prefixHash() != 0;
  }

  private static long key(RoutingRequest request) {
    String session = request.sessionKey();
    return session == null ? HashRing.mix(request.prefixHash()) : HashRing.hash(session);
  }

  private double distance(Candidates candidates, int row, long key) {
    return ring.distance(candidates.name(row), key);
  }

  private static double full(Candidates candidates, int row, double mostRequests) {
    return candidates.requests(row) < mostRequests ? 0 : 2;
  }

  private double mostRequests(Candidates candidates) {
    long sum = 0;
    for (int row = 0; row < candidates.count(); row++) {
      sum += candidates.requests(row);
    }
    return Math.ceil(loadBound * (sum + 1) / candidates.count());
  }

  /**
   * A ring of 2^64 places on which each name has {@value #POINTS} points of its own.
   *
   * <p>The ring is not kept as one list: a name's points follow from the name alone, and who comes
   * first clockwise from a key is who has the smallest distance. So nothing is rebuilt when names
   * come and go.
   *
   * <p>Thread-safe.
   */
  static final class HashRing {

    private static final int POINTS = 128;
    private static final int MOST_NAMES = 4096;
    private static final double RING = 0x1p64;

    /** The points of names seen, which could as well be computed again; emptied when full. */
    private final Map<String, long[]> pointsOf = new ConcurrentHashMap<>();

    /**
     * From {@code key} clockwise to the next point of {@code name}, as a part of the ring below 1.
     */
    double distance(String name, long key) {
      long[] points = points(name);
      int place = Arrays.binarySearch(points, key);
      int next = place >= 0 ? place : (-place - 1) % points.length;
      return unsigned(points[next] - key) / RING;
    }

    private long[] points(String name) {
      if (pointsOf.size() >= MOST_NAMES) {
        pointsOf.clear();
      }
      return pointsOf.computeIfAbsent(name, HashRing::pointsFor);
    }

    private static long[] pointsFor(String name) {
      long[] points = new long[POINTS];
      long seed = hash(name);
      for (int i = 0; i < POINTS; i++) {
        seed += 0x9e3779b97f4a7c15L;
        points[i] = mix(seed);
      }
      Arrays.sort(points);
      return points;
    }

    /** The place of a text on the ring: FNV-1a over its characters, then mixed. */
    static long hash(String text) {
      long hash = 0xcbf29ce484222325L;
      for (int i = 0; i < text.length(); i++) {
        hash = (hash ^ text.charAt(i)) * 0x100000001b3L;
      }
      return mix(hash);
    }

    /** Spreads a number over the whole ring; the finalizer of SplitMix64. */
    static long mix(long value) {
      long mixed = (value ^ (value >>> 30)) * 0xbf58476d1ce4e5b9L;
      mixed = (mixed ^ (mixed >>> 27)) * 0x94d049bb133111ebL;
      return mixed ^ (mixed >>> 31);
    }

    private static double unsigned(long value) {
      double half = (value >>> 1) * 2.0;
      return half + (value & 1);
    }
  }
}
