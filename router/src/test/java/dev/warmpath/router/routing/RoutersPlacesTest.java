package dev.warmpath.router.routing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.routing.Fleets.Row;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;

/** Routers that see the same and choose at the same time. */
class RoutersPlacesTest {

  private final WarmPolicy policy = new WarmPolicy(WarmPolicy.Weights.DEFAULT);

  @Property
  void oneWithoutOthersTakesTheLowest(
      @ForAll("fleets") List<Row> rows, @ForAll @IntRange(min = 1, max = 50_000) int tokens) {
    Candidates candidates = Fleets.of(rows);
    RoutingRequest request = Fleets.prompt(tokens);
    int winner = policy.choose(request, candidates);
    for (int row = 0; row < candidates.count(); row++) {
      assertThat(total(request, candidates, winner))
          .isLessThanOrEqualTo(total(request, candidates, row));
    }
  }

  @Property
  void oneOfManyTakesOneThatIsNearlyAsGoodAndHoldsAsMuch(
      @ForAll("fleets") List<Row> rows,
      @ForAll @IntRange(min = 1, max = 50_000) int tokens,
      @ForAll @IntRange(max = 63) int place) {
    Candidates candidates = Fleets.of(rows);
    RoutingRequest alone = Fleets.prompt(tokens);
    int lowest = policy.choose(alone, candidates);
    int winner = policy.choose(at(alone, place / 64.0), candidates);
    assertThat(total(alone, candidates, winner) - total(alone, candidates, lowest))
        .isLessThanOrEqualTo(10.001 + 0.1 * candidates.prefillMillis(alone, lowest));
    assertThat(candidates.creditTokens(alone, winner))
        .isGreaterThanOrEqualTo(candidates.creditTokens(alone, lowest));
  }

  @Property
  void theOrderOfTheCandidatesDoesNotMatter(
      @ForAll("fleets") List<Row> rows,
      @ForAll @IntRange(min = 1, max = 50_000) int tokens,
      @ForAll @IntRange(max = 63) int place,
      @ForAll Random random) {
    RoutingRequest request = at(Fleets.prompt(tokens), place / 64.0);
    Candidates candidates = Fleets.of(rows);
    String chosen = candidates.name(policy.choose(request, candidates));
    List<Row> shuffled = new ArrayList<>(rows);
    Collections.shuffle(shuffled, random);
    Candidates others = Fleets.of(shuffled);
    assertThat(others.name(policy.choose(request, others))).isEqualTo(chosen);
  }

  @Property
  void equalEnginesGetEqualParts(
      @ForAll @IntRange(min = 1, max = 20) int engines,
      @ForAll @IntRange(min = 2, max = 40) int routers) {
    int[] chosen = new int[engines];
    for (int router = 0; router < routers; router++) {
      chosen[
          policy.choose(
              at(Fleets.prompt(1000), (double) router / routers), Fleets.idle(engines))]++;
    }
    assertThat(IntStream.of(chosen).max().orElseThrow())
        .isLessThanOrEqualTo((routers + engines - 1) / engines);
  }

  private double total(RoutingRequest request, Candidates candidates, int row) {
    return policy.score(request, candidates, row).total();
  }

  private static RoutingRequest at(RoutingRequest request, double place) {
    return new RoutingRequest(
        request.promptTokens(),
        request.blocks(),
        request.sessionKey(),
        request.prefixHash(),
        request.draw(),
        request.nowNanos(),
        request.sinceNanos(),
        place);
  }

  @Provide
  Arbitrary<List<Row>> fleets() {
    Arbitrary<Integer> credits = Arbitraries.of(0, 0, 0, 512, 20_000);
    Arbitrary<Integer> requests = Arbitraries.integers().between(0, 3);
    return Combinators.combine(credits, requests)
        .as((credit, inFlight) -> Fleets.holder("", credit, inFlight))
        .list()
        .ofMinSize(1)
        .ofMaxSize(9)
        .map(rows ->
            IntStream.range(0, rows.size()).mapToObj(i -> named("r" + i, rows.get(i))).toList());
  }

  private static Row named(String name, Row row) {
    return new Row(name, row.cached(), row.load(), row.cost(), row.lastTurn(), 0);
  }
}
