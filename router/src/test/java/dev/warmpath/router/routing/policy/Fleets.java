package dev.warmpath.router.routing.policy;

import dev.warmpath.router.routing.Candidate;
import dev.warmpath.router.routing.Load;
import dev.warmpath.router.routing.PrefillCost;
import dev.warmpath.router.routing.RoutingRequest;
import java.util.ArrayList;
import java.util.List;

/** Candidates and requests to try policies on. */
final class Fleets {

  private Fleets() {}

  /** So many idle candidates that were never chosen: r0, r1, … */
  static List<Candidate> idle(int count) {
    List<Candidate> candidates = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      candidates.add(new Candidate("r" + i, 0, Load.NONE, PrefillCost.DEFAULT, Candidate.NEVER));
    }
    return candidates;
  }

  static Candidate busy(String name, int requests) {
    return with(name, 0, new Load(requests, 0, 0, 0));
  }

  static Candidate with(String name, int creditTokens, Load load) {
    return new Candidate(name, creditTokens, load, PrefillCost.DEFAULT, Candidate.NEVER);
  }

  static Candidate turned(String name, long lastTurn) {
    return new Candidate(name, 0, Load.NONE, PrefillCost.DEFAULT, lastTurn);
  }

  /** A request of that many tokens that always draws 0. */
  static RoutingRequest prompt(int tokens) {
    return new RoutingRequest(tokens, null, 0, 0);
  }

  static RoutingRequest session(String key) {
    return new RoutingRequest(RoutingRequest.UNKNOWN_TOKENS, key, 0, 0);
  }

  static RoutingRequest draw(long draw) {
    return new RoutingRequest(RoutingRequest.UNKNOWN_TOKENS, null, 0, draw);
  }
}
