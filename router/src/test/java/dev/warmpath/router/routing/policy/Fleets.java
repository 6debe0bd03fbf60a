package dev.warmpath.router.routing.policy;

import dev.warmpath.router.routing.Candidates;
import dev.warmpath.router.routing.Load;
import dev.warmpath.router.routing.PrefillCost;
import dev.warmpath.router.routing.RoutingRequest;
import java.util.List;

/** Candidates and requests to try policies on. */
final class Fleets {

  private Fleets() {}

  /** So many idle candidates that were never chosen: r0, r1, … */
  static Candidates idle(int count) {
    Candidates candidates = new Candidates();
    for (int i = 0; i < count; i++) {
      candidates.add("r" + i, 0, Load.NONE, PrefillCost.DEFAULT, Candidates.NEVER);
    }
    return candidates;
  }

  /** One candidate. */
  record Row(String name, int creditTokens, Load load, PrefillCost cost, long lastTurn) {}

  static Candidates of(Row... rows) {
    return of(List.of(rows));
  }

  static Candidates of(List<Row> rows) {
    Candidates candidates = new Candidates();
    for (Row row : rows) {
      candidates.add(row.name, row.creditTokens, row.load, row.cost, row.lastTurn);
    }
    return candidates;
  }

  static Row busy(String name, int requests) {
    return with(name, 0, new Load(requests, 0, 0, 0));
  }

  static Row with(String name, int creditTokens, Load load) {
    return new Row(name, creditTokens, load, PrefillCost.DEFAULT, Candidates.NEVER);
  }

  static Row turned(String name, long lastTurn) {
    return new Row(name, 0, Load.NONE, PrefillCost.DEFAULT, lastTurn);
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
