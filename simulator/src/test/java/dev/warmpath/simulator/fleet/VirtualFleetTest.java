package dev.warmpath.simulator.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.simulator.fleet.Runs.Outcome;
import dev.warmpath.simulator.trace.Trace;
import dev.warmpath.simulator.trace.TraceBuilder;
import org.junit.jupiter.api.Test;

class VirtualFleetTest {

  private static final int BLOCK = 16;

  @Test
  void timesAreThoseOfTheCostModel() {
    Trace trace = turns(2, 1600, 5);
    Outcome outcome = Runs.run("warm", trace, 2, 1000);
    Measures measures = outcome.measures();
    // A step of 1600 tokens, then one of the last 16: a hit leaves a token to compute.
    double first = 15 + 0.07 * 1600 + 2e-6 * 1600 * 800;
    double second = 15 + 0.07 * 16 + 2e-6 * 16 * (1584 + 8);
    assertThat(measures.firstMillis(0)).isEqualTo(first, within(0.01));
    assertThat(measures.firstMillis(1)).isEqualTo(second, within(0.01));
    assertThat(measures.cachedTokens(1)).isEqualTo(1584);
    assertThat(measures.engine(1)).isEqualTo(measures.engine(0));
    assertThat(measures.predictedTokens(1)).isEqualTo(1584);
    assertThat(measures.tokenMillis(0)).isEqualTo(15 + 3.4e-5 * 1602.5, within(0.01));
    double answered = first / 1e3 + 4 * measures.tokenMillis(0) / 1e3;
    assertThat(measures.arrivedSeconds(1)).isEqualTo(answered + 1, within(1e-6));
  }

  @Test
  void theSamePlanGivesTheSameResult() {
    Trace trace = turns(50, 3000, 80);
    Outcome once = Runs.run("warm", trace, 4, 1000);
    Outcome again = Runs.run("warm", trace, 4, 1000);
    assertThat(again.measures()).usingRecursiveComparison().isEqualTo(once.measures());
  }

  /** Chats take turns, alone in the fleet, so that nothing changes between choice and step. */
  @Test
  void theIndexPredictsWhatTheEnginesFindInBothTiers() {
    Trace trace = roundRobinChats(12, 8);
    Outcome tiered = Runs.run("warm", trace, 2, Runs.engine(BLOCK, 400, 500), IndexMode.NOW);
    Measures measures = tiered.measures();
    assertThat(tiered.answered()).isEqualTo(trace.requests());
    for (int request = 0; request < trace.requests(); request++) {
      assertThat(measures.predictedTokens(request))
          .as("request %d", request)
          .isEqualTo(measures.cachedTokens(request));
    }
    assertThat(tiered.hostTokens()).isPositive();
    assertThat(tiered.hitRate()).as("the host drops blocks too").isLessThan(0.9);
    Outcome plain = Runs.run("warm", trace, 2, 400);
    assertThat(plain.hostTokens()).isZero();
    assertThat(tiered.hitRate()).isGreaterThan(plain.hitRate());
  }

  @Test
  void aRequestWaitsForItsLoadBeforeItsStep() {
    Trace trace = roundRobinChats(2, 2);
    Outcome tiered = Runs.run("warm", trace, 1, Runs.engine(BLOCK, 140, 1000), IndexMode.NOW);
    Measures measures = tiered.measures();
    int second = 2;
    int prompt = trace.promptTokens(second);
    int cached = measures.cachedTokens(second);
    int host = measures.hostTokens(second);
    int computed = prompt - cached;
    assertThat(host).isPositive();
    double millis =
        2 + 0.005 * host + 15 + 0.07 * computed + 2e-6 * computed * (cached + computed / 2.0);
    assertThat(measures.firstMillis(second)).isEqualTo(millis, within(0.01));
    assertThat(measures.loadMillis(second)).isEqualTo(2 + 0.005 * host, within(0.01));
  }

  @Test
  void anIndexThatHearsLateKnowsLess() {
    Trace trace = turns(20, 3000, 5);
    double exact = Runs.run("warm", trace, 4, 1000).hitRate();
    Outcome late = Runs.run("warm", trace, 4, 1000, IndexMode.parse("delayed:60000"));
    assertThat(late.answered()).isEqualTo(20);
    assertThat(late.measures().predictedTokens(1)).isZero();
    assertThat(exact).isGreaterThanOrEqualTo(late.hitRate());
  }

  @Test
  void anIndexOfWhatWasRoutedFindsTheHolderToo() {
    Trace trace = turns(20, 3000, 5);
    Outcome routed = Runs.run("warm", trace, 4, 1000, IndexMode.parse("approx"));
    assertThat(routed.hitRate()).isGreaterThan(0.9);
    assertThat(routed.measures().predictedTokens(1)).isPositive();
  }

  @Test
  void whatNoCacheCanHoldIsRefusedAndEndsItsSession() {
    Trace trace = turns(3, 3000, 5);
    Outcome outcome = Runs.run("warm", trace, 2, 100);
    assertThat(outcome.answered()).isZero();
    assertThat(outcome.measures().isRejected(0)).isTrue();
    assertThat(outcome.measures().arrivedSeconds(1)).isNaN();
  }

  @Test
  void blocksMustBeThoseOfTheTrace() {
    Trace trace = new TraceBuilder("none", 32).build();
    assertThatThrownBy(() ->
            new VirtualFleet(
                FleetPlan.of(
                    1,
                    Runs.engine(BLOCK, 100),
                    IndexMode.NOW,
                    () -> dev.warmpath.router.routing.Policies.named("warm", java.util.Map.of()),
                    1),
                new Workload(trace, 1, 1, 1)))
        .hasMessage("blockSizeTokens=16, of the trace 32");
  }

  /** Chats that grow by 20 blocks a turn, one request after another. */
  private static Trace roundRobinChats(int chats, int turns) {
    TraceBuilder trace = new TraceBuilder("chats", BLOCK);
    for (int turn = 0; turn < turns; turn++) {
      for (int chat = 0; chat < chats; chat++) {
        int before = trace.requests() - 1;
        int blocks = 80 + 20 * turn;
        trace.request(before < 0 ? 0 : 1, before, chat, BLOCK * blocks + 5, 20);
        trace.blocks(1000 * chat, blocks);
      }
    }
    return trace.build();
  }

  /** The same prompt again and again, a second after each answer. */
  private static Trace turns(int count, int tokens, int answerTokens) {
    TraceBuilder trace = new TraceBuilder("turns", BLOCK);
    for (int i = 0; i < count; i++) {
      trace.request(i == 0 ? 0 : 1, i - 1, 0, tokens, answerTokens).blocks(0, tokens / BLOCK);
    }
    return trace.build();
  }
}
