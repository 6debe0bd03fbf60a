package dev.warmpath.router.routing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.routing.Fleets.Row;
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
class EveryPolicyTest {

  @Property(tries = 1000)
  void theWinnerIsACandidateAndItsScoreIsTheLowest(
      @ForAll("policies") Policy policy,
      @ForAll("histories") List<RoutingRequest> before,
      @ForAll("requests") RoutingRequest request,
      @ForAll("fleets") List<Row> fleet) {
    Candidates candidates = Fleets.of(fleet);
    for (RoutingRequest earlier : before) {
      policy.committed(earlier, candidates, policy.choose(earlier, candidates));
    }
    int winner = policy.choose(request, candidates);

    assertThat(policy.memoryShare()).isBetween(0.0, 1.0);
    assertThat(winner).isBetween(0, candidates.count() - 1);
    assertThat(policy.reason(request, candidates, winner)).isNotBlank();
    double best = policy.score(request, candidates, winner).total();
    for (int row = 0; row < candidates.count(); row++) {
      double total = policy.score(request, candidates, row).total();
      assertThat(total).isFinite();
      assertThat(total).isGreaterThanOrEqualTo(best - 1e-9 * Math.abs(best));
    }
    assertThat(policy.choose(request, candidates)).as("asking changes nothing").isEqualTo(winner);
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
    Arbitrary<Integer> few = Arbitraries.integers().between(0, 3);
    Arbitrary<RoutingRequest> odd =
        Combinators.combine(tokens, sessions, Arbitraries.longs(), Arbitraries.longs())
            .as((n, session, hash, draw) ->
                new RoutingRequest(n, PromptBlocks.NONE, session, hash, draw, draw));
    Arbitrary<RoutingRequest> usual =
        Combinators.combine(few, few, few, few, sessions, Arbitraries.longs()).as(this::usual);
    return Arbitraries.oneOf(odd, usual);
  }

  private RoutingRequest usual(
      int shared, int own, int family, int number, String session, long draw) {
    RoutingRequest prompt = Fleets.prompt(10 * shared, 10 * own, family, number);
    return new RoutingRequest(prompt.promptTokens(), prompt.blocks(), session, family, draw, draw);
  }

  @Provide
  Arbitrary<List<RoutingRequest>> histories() {
    return requests().list().ofMaxSize(20);
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
                    some.cached(),
                    some.load(),
                    some.cost(),
                    some.lastTurn(),
                    some.capacityTokens()));
          }
          return named;
        });
  }

  private static Arbitrary<Row> candidates() {
    Arbitrary<Integer> credit =
        Arbitraries.oneOf(
            Arbitraries.integers().greaterOrEqual(0), Arbitraries.integers().between(0, 1000));
    Arbitrary<Double> rates = Arbitraries.doubles().between(0, 1e6);
    Arbitrary<PrefillCost> costs = Combinators.combine(rates, rates).as(PrefillCost::new);
    Arbitrary<Long> turns = Arbitraries.longs().greaterOrEqual(-1);
    Arbitrary<Long> capacities = Arbitraries.longs().greaterOrEqual(0);
    return Combinators.combine(credit, loads(), costs, turns, capacities)
        .as((tokens, load, cost, turn, capacity) ->
            new Row("", List.of(tokens, tokens / 3, tokens / 5), load, cost, turn, capacity));
  }

  private static Arbitrary<Load> loads() {
    Arbitrary<Long> tokens = Arbitraries.longs().greaterOrEqual(0);
    Arbitrary<Integer> requests =
        Arbitraries.oneOf(
            Arbitraries.integers().greaterOrEqual(0), Arbitraries.integers().between(0, 100));
    return Combinators.combine(requests, tokens, Arbitraries.doubles().between(0, 1e12), tokens)
        .as((inFlight, queued, millis, context) ->
            new Load(inFlight, inFlight / 2, queued, millis, context));
  }
}
