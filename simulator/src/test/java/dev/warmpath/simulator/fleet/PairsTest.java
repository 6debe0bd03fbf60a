package dev.warmpath.simulator.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.simulator.engine.Link;
import dev.warmpath.simulator.fleet.FleetPlan.Incident;
import dev.warmpath.simulator.fleet.Runs.Outcome;
import dev.warmpath.simulator.study.Chats;
import dev.warmpath.simulator.trace.Trace;
import dev.warmpath.simulator.trace.TraceBuilder;
import org.junit.jupiter.api.Test;

/** Engines of a virtual fleet that serve requests in pairs. */
class PairsTest {

  private static final Trace CHATS =
      Chats.trace(
          "{\"seconds\": 120, \"sessions\": 600, \"tenants\": 10, \"system\": 3000, \"think\": 3}");

  @Test
  void timesAreThoseOfBothLegsAndTheTransfer() {
    TraceBuilder trace = new TraceBuilder("one", 16);
    trace.request(0, Trace.NONE, Trace.NONE, 1600, 5);
    Outcome outcome = run(trace.build(), 2, new Pairs(1, "always", new Link(3, 10)));
    Measures measures = outcome.measures();
    double prefill = 15 + 0.07 * 1600 + 2e-6 * 1600 * 800;
    double transfer = 3 + 0.01 * 1600;
    double decode = 15 + 0.07 + 2e-6 * 1599.5; // the last prompt token is computed again
    assertThat(measures.firstMillis(0)).isEqualTo(prefill + transfer + decode, within(0.01));
    assertThat(measures.isSplit(0)).isTrue();
    assertThat(measures.engine(0)).isZero();
    assertThat(measures.cachedTokens(0)).as("computed by the prefill").isZero();
    assertThat(measures.answeredMillis(0))
        .isEqualTo(measures.firstMillis(0) + 4 * measures.tokenMillis(0), within(0.01));
  }

  @Test
  void whatTheDecodeHoldsIsNotSentAgain() {
    TraceBuilder trace = new TraceBuilder("two", 16);
    trace.request(0, Trace.NONE, Trace.NONE, 1600, 5).blocks(0, 100);
    trace.request(60, 0, Trace.NONE, 1600, 5).blocks(0, 100);
    Measures measures = run(trace.build(), 2, new Pairs(1, "always", new Link(0, 1000))).measures();
    assertThat(measures.firstMillis(0)).isGreaterThan(1600);
    assertThat(measures.cachedTokens(1)).isEqualTo(1584);
    assertThat(measures.firstMillis(1)).isLessThan(100);
  }

  @Test
  void everyRequestIsAnsweredByAnyPair() {
    for (String rule : new String[] {"always", "never", "cheapest", "new-tokens:min-tokens=500"}) {
      for (int prefills = 0; prefills < 3; prefills++) {
        Pairs pairs = new Pairs(prefills, rule, new Link(2, 5));
        Outcome outcome = run(CHATS, 4, pairs);
        assertThat(outcome.answered()).as("%s", pairs).isEqualTo(CHATS.requests());
        long split = split(outcome);
        if (rule.equals("always")) {
          assertThat(split).isEqualTo(CHATS.requests());
        } else if (rule.equals("never")) {
          assertThat(split).isZero();
        }
      }
    }
  }

  @Test
  void theSamePlanGivesTheSameResult() {
    Pairs pairs = new Pairs(2, "cheapest", new Link(2, 5));
    assertThat(run(CHATS, 4, pairs).measures())
        .usingRecursiveComparison()
        .isEqualTo(run(CHATS, 4, pairs).measures());
  }

  @Test
  void onlyPrefillsAnswerNothingAlone() {
    Outcome outcome = run(CHATS, 4, new Pairs(2, "never", new Link(2, 5)));
    assertThat(outcome.requests()[0]).isZero();
    assertThat(outcome.requests()[1]).isZero();
    assertThat(outcome.requests()[2]).isPositive();
  }

  @Test
  void anEngineThatFailsInAPairCostsNoRequest() {
    for (int engine = 0; engine < 4; engine++) {
      Outcome outcome =
          run(
              CHATS,
              4,
              new Pairs(2, "always", new Link(100, 200)),
              Incident.of(30, engine, Incident.Kind.FAIL),
              Incident.of(60, engine, Incident.Kind.RECOVER));
      assertThat(outcome.answered()).as("engine %d", engine).isEqualTo(CHATS.requests());
    }
  }

  private static long split(Outcome outcome) {
    return java.util.stream.IntStream.range(0, CHATS.requests())
        .filter(outcome.measures()::isSplit)
        .count();
  }

  private static Outcome run(Trace trace, int engines, Pairs pairs, Incident... incidents) {
    return Runs.run(
        "warm",
        trace,
        engines,
        Runs.engine(16, 20_000),
        IndexMode.NOW,
        Routers.ONE,
        pairs,
        incidents);
  }
}
