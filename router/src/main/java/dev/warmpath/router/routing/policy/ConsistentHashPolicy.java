package dev.warmpath.router.routing.policy;

import dev.warmpath.router.routing.Candidate;
import dev.warmpath.router.routing.Decision;
import dev.warmpath.router.routing.Policy;
import dev.warmpath.router.routing.RoutingRequest;
import dev.warmpath.router.routing.Score;
import java.util.List;

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
public final class ConsistentHashPolicy implements Policy {

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
  public Decision choose(RoutingRequest request, List<Candidate> candidates) {
    String session = request.sessionKey();
    if (session != null) {
      return closest(request, candidates, HashRing.hash(session), "session");
    }
    if (request.prefixHash() != 0) {
      return closest(request, candidates, HashRing.mix(request.prefixHash()), "prefix");
    }
    return Decision.cheapest(request, candidates, LeastRequestsPolicy::cost, "load");
  }

  private Decision closest(
      RoutingRequest request, List<Candidate> candidates, long key, String reason) {
    double most = Math.ceil(loadBound * (inFlight(candidates) + 1) / candidates.size());
    return Decision.cheapest(
        request,
        candidates,
        candidate ->
            Score.of(
                Score.term("distance", ring.distance(candidate.name(), key)),
                Score.term("full", candidate.load().requestsInFlight() < most ? 0 : 2)),
        reason);
  }

  private static long inFlight(List<Candidate> candidates) {
    long sum = 0;
    for (Candidate candidate : candidates) {
      sum += candidate.load().requestsInFlight();
    }
    return sum;
  }
}
