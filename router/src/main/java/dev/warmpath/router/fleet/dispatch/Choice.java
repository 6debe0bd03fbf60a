package dev.warmpath.router.fleet.dispatch;

import dev.warmpath.router.fleet.match.Prompt;
import dev.warmpath.router.routing.Decision;
import dev.warmpath.router.routing.Policy;
import dev.warmpath.router.routing.RoutingRequest;
import java.util.ArrayList;
import java.util.List;

/**
 * A policy's decision together with what it was made on.
 *
 * <p>Confined to the dispatcher's lock.
 *
 * @param prospects the engines that it was made among, in the order of the decision's scores
 * @param suspended the engines that were kept out of it for their failures
 */
record Choice(
    RoutingRequest request, List<Prospect> prospects, List<Prospect> suspended, Decision decision) {

  /** Lets {@code policy} choose; suspended engines are in it only if there are no others. */
  static Choice among(List<Prospect> all, RoutingRequest request, Policy policy, long nowNanos) {
    List<Prospect> well = new ArrayList<>(all.size());
    List<Prospect> suspended = new ArrayList<>(0);
    for (Prospect prospect : all) {
      (prospect.engine().suspension().active(nowNanos) ? suspended : well).add(prospect);
    }
    return well.isEmpty()
        ? new Choice(request, suspended, List.of(), decide(suspended, request, policy))
        : new Choice(request, well, suspended, decide(well, request, policy));
  }

  private static Decision decide(List<Prospect> prospects, RoutingRequest request, Policy policy) {
    return policy.choose(request, prospects.stream().map(Prospect::candidate).toList());
  }

  Prospect winner() {
    return prospects.get(decision.winner());
  }

  /** The candidates, for an explanation. */
  List<Explanation.Candidature> candidatures(Prompt prompt) {
    List<Explanation.Candidature> candidatures = new ArrayList<>(prospects.size());
    for (int i = 0; i < prospects.size(); i++) {
      candidatures.add(prospects.get(i).candidature(prompt, decision.scores().get(i)));
    }
    return candidatures;
  }
}
