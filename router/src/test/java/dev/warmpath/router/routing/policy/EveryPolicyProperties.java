package dev.warmpath.router.routing.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.routing.Candidates;
import dev.warmpath.router.routing.Load;
import dev.warmpath.router.routing.Policy;
import dev.warmpath.router.routing.PrefillCost;
import dev.warmpath.router.routing.RoutingRequest;
import dev.warmpath.router.routing.policy.Fleets.Row;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** What holds for every policy on any fleet, extremes included. */
class EveryPolicyProperties {

  @Property(tries = 300)
  void theWinnerIsACandidateAndItsScoreIsTheLowest(
      @ForAll("policies") Policy policy,
      @ForAll("requests") RoutingRequest request,
      @ForAll("fleets") List<Row> fleet) {
    Candidates candidates = Fleets.of(fleet);
    int winner = policy.choose(request, candidates);

    assertThat(policy.reason(request, candidates, winner)).isNotBlank();
    double best = policy.score(request, candidates, winner).total();
    for (int row = 0; row < candidates.count(); row++) {
      double total = policy.score(request, candidates, row).total();
      assertThat(total).isFinite();
      assertThat(total).isGreaterThanOrEqualTo(best - 1e-9 * Math.abs(best));
    }
  }

  @Property(tries = 200)
  void theSameQuestionHasTheSameAnswer(
      @ForAll("policies") Policy policy,
      @ForAll("requests") RoutingRequest request,
      @ForAll("fleets") List<Row> fleet) {
    Policy fresh = Policies.named(policy.name(), Map.of());
    int winner = policy.choose(request, Fleets.of(fleet));
    assertThat(policy.choose(request, Fleets.of(fleet))).isEqualTo(winner);
    assertThat(fresh.choose(request, Fleets.of(fleet))).isEqualTo(winner);
  }

  @Provide
  Arbitrary<Policy> policies() {
    return Arbitraries.of(Policies.names()).map(name -> Policies.named(name, Map.of()));
  }

  @Provide
  Arbitrary<RoutingRequest> requests() {
    Arbitrary<Integer> tokens = Arbitraries.integers().greaterOrEqual(-1);
    Arbitrary<String> sessions = Arbitraries.strings().ofMaxLength(8).injectNull(0.5);
    return Combinators.combine(tokens, sessions, Arbitraries.longs(), Arbitraries.longs())
        .as(RoutingRequest::new);
  }

  @Provide
  Arbitrary<List<Row>> fleets() {
    return candidates()
        .list()
        .ofMinSize(1)
        .ofMaxSize(9)
        .map(candidates -> {
          List<Row> named = new ArrayList<>();
          for (Row some : candidates) {
            named.add(
                new Row(
                    "r" + named.size(),
                    some.creditTokens(),
                    some.load(),
                    some.cost(),
                    some.lastTurn()));
          }
          return named;
        });
  }

  private static Arbitrary<Row> candidates() {
    Arbitrary<Integer> credit = Arbitraries.integers().greaterOrEqual(0);
    Arbitrary<Double> rates = Arbitraries.doubles().between(0, 1e6);
    Arbitrary<PrefillCost> costs = Combinators.combine(rates, rates).as(PrefillCost::new);
    Arbitrary<Long> turns = Arbitraries.longs().greaterOrEqual(-1);
    return Combinators.combine(credit, loads(), costs, turns)
        .as((tokens, load, cost, turn) -> new Row("", tokens, load, cost, turn));
  }

  private static Arbitrary<Load> loads() {
    Arbitrary<Long> tokens = Arbitraries.longs().greaterOrEqual(0);
    return Combinators.combine(
            Arbitraries.integers().greaterOrEqual(0),
            tokens,
            Arbitraries.doubles().between(0, 1e12),
            tokens)
        .as(Load::new);
  }
}
