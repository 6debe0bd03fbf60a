package dev.warmpath.simulator.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.routing.Policies;
import dev.warmpath.simulator.engine.StepCost;
import dev.warmpath.simulator.fleet.FleetPlan.Incident;
import dev.warmpath.simulator.fleet.FleetPlan.Incident.Kind;
import dev.warmpath.simulator.fleet.Runs.Outcome;
import dev.warmpath.simulator.trace.Trace;
import dev.warmpath.simulator.trace.TraceBuilder;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Workloads and accidents at which policies fail that look at caches or at load alone. */
class TrapsTest {

  private static final int BLOCK = 64;
  private static final int LARGE = 60_000;

  private final SplittableRandom random = new SplittableRandom(11);
  private int nextBlock;

  @Test
  void aRootBlockThatAllShareDoesNotHerd() {
    int root = numbers(1);
    TraceBuilder trace = new TraceBuilder("root", BLOCK);
    for (int i = 0; i < 400; i++) {
      int own = 20 + random.nextInt(200);
      trace.request(0.15 * i, Trace.NONE, Trace.NONE, BLOCK * (own + 1), 100);
      trace.blocks(root, 1).blocks(numbers(own), own);
    }
    Outcome warm = Runs.run("warm", trace.build(), 8, LARGE);
    assertThat(warm.imbalance()).isLessThan(1.3);
    assertThat(warm.meanMillis())
        .isLessThan(1.05 * Runs.run("least-requests", trace.build(), 8, LARGE).meanMillis());
  }

  @Test
  void sessionsThatShareTheirToolsDoNotHerdOntoTheFirstHolder() {
    Trace trace = agents(120, 250, 8, 40);
    Outcome warm = Runs.run("warm", trace, 8, LARGE);
    assertThat(warm.imbalance()).isLessThan(1.4);
    assertThat(warm.meanMillis())
        .isLessThan(1.1 * Runs.run("sticky", trace, 8, LARGE).meanMillis())
        .isLessThan(0.9 * Runs.run("conductor", trace, 8, LARGE).meanMillis());
    assertThat(warm.hitRate()).isGreaterThan(0.85);
  }

  @Test
  void turnsOfHundredThousandTokensStayWhereTheyAre() {
    Trace trace = agents(24, 1500, 6, 20);
    Outcome warm = Runs.run("warm", trace, 4, LARGE);
    // All that must be computed once, and the shared prompt once an engine.
    assertThat(warm.computedTokens()).isLessThan((long) (1.15 * unique(trace)) + 3L * 1500 * BLOCK);
  }

  @Test
  void burstsOfSiblingsNeitherScatterNorPileUp() {
    TraceBuilder trace = new TraceBuilder("bursts", BLOCK);
    for (int tick = 0; tick < 60; tick++) {
      int shared = numbers(100);
      for (int sibling = 0; sibling < 14; sibling++) {
        int own = 5 + random.nextInt(20);
        trace.request(3.0 * tick, Trace.NONE, Trace.NONE, BLOCK * (100 + own), 60);
        trace.blocks(shared, 100).blocks(numbers(own), own);
        int single = 10 + random.nextInt(60);
        trace.request(3.0 * tick, Trace.NONE, Trace.NONE, BLOCK * single, 60);
        trace.blocks(numbers(single), single);
      }
    }
    Outcome warm = Runs.run("warm", trace.build(), 8, LARGE);
    assertThat(warm.computedTokens()).isLessThan((long) (1.5 * unique(trace.build())));
    assertThat(warm.imbalance()).isLessThan(1.3);
    // An idle fleet would answer sooner if each engine computed what the siblings share.
    Outcome spread = Runs.run("least-requests", trace.build(), 8, LARGE);
    assertThat(warm.computedTokens()).isLessThan((long) (0.8 * spread.computedTokens()));
    assertThat(warm.meanMillis()).isLessThan(1.35 * spread.meanMillis());
  }

  @Test
  void belowTheWorkingSetItIsNoWorseThanByLoadAlone() {
    Trace trace = agents(80, 100, 6, 60);
    int tight = 1500;
    Outcome warm = Runs.run("warm", trace, 4, tight);
    assertThat(warm.answered()).isEqualTo(trace.requests());
    assertThat(warm.meanMillis())
        .isLessThan(1.05 * Runs.run("least-requests", trace, 4, tight).meanMillis());
  }

  @Test
  void sessionsThatHardlyFitStayWhereTheyAre() {
    Trace trace = agents(80, 100, 6, 60);
    Outcome warm = Runs.run("warm", trace, 4, 3750);
    assertThat(warm.meanMillis()).isLessThan(1.1 * Runs.run("sticky", trace, 4, 3750).meanMillis());
    assertThat(warm.hitRate()).isGreaterThan(0.75);
  }

  @Test
  void anEngineThatFailsAndComesBackLosesNoRequest() {
    Trace trace = agents(160, 100, 6, 30);
    Outcome warm =
        Runs.run(
            "warm",
            trace,
            4,
            LARGE,
            Incident.of(20, 1, Kind.FAIL),
            Incident.of(40, 1, Kind.RECOVER));
    assertThat(warm.answered()).isEqualTo(trace.requests());
    assertThat(warm.requests()[1]).isBetween(1, trace.requests() / 3);
  }

  @Test
  void anEngineOfWhichTheRouterForgotEverythingIsStillUsed() {
    Trace trace = agents(160, 100, 6, 30);
    Outcome warm = Runs.run("warm", trace, 4, LARGE, Incident.of(20, 1, Kind.FORGOTTEN));
    assertThat(warm.answered()).isEqualTo(trace.requests());
    assertThat(warm.requests()[1]).isGreaterThan(trace.requests() / 10);
    assertThat(warm.meanMillis()).isLessThan(1.3 * Runs.run("warm", trace, 4, LARGE).meanMillis());
  }

  @Test
  void anEngineThatIsHalfAsFastGetsLess() {
    TraceBuilder trace = new TraceBuilder("singles", BLOCK);
    for (int i = 0; i < 800; i++) {
      int own = 60 + random.nextInt(120);
      trace.request(0.12 * i, Trace.NONE, Trace.NONE, BLOCK * own, 20).blocks(numbers(own), own);
    }
    Outcome warm = Runs.run("warm", trace.build(), 4, LARGE, new Incident(0, 2, Kind.SLOW, 2));
    int[] requests = warm.requests();
    assertThat(requests[2]).isLessThan((int) (0.9 * 800 / 4)); // it has to be found out first
    assertThat(Arrays.stream(requests).sum()).isEqualTo(800);
  }

  /** They compute prompts as fast: only what streams there take shows it. */
  @Test
  void enginesThatOnlyDecodeSlowlyGetLess() {
    TraceBuilder trace = new TraceBuilder("answers", BLOCK);
    for (int i = 0; i < 2_000; i++) {
      int own = 2 + random.nextInt(10);
      trace.request(0.1 * i, Trace.NONE, Trace.NONE, BLOCK * own, 400).blocks(numbers(own), own);
    }
    StepCost slow = new StepCost(45, 0.07, 2e-6, 1e-4);
    FleetPlan plan =
        new FleetPlan(
            4,
            Runs.engine(BLOCK, LARGE),
            List.of(StepCost.H100X4, slow),
            IndexMode.NOW,
            () -> Policies.named("warm", Map.of()),
            FleetPlan.QUEUE_MILLIS,
            1,
            List.of(),
            Routers.ONE,
            Pairs.NONE,
            FleetPlan.Beyond.HOST);
    Workload workload = new Workload(trace.build(), 1, 1, 1);
    Outcome warm = new Outcome(new VirtualFleet(plan, workload).run(arrivals -> {}), 4);
    int[] requests = warm.requests();
    assertThat(requests[1] + requests[3]).isLessThan((requests[0] + requests[2]) / 5);
  }

  @Test
  void anEngineThatRefusesAtOnceDoesNotSwallowTheTraffic() {
    Trace trace = agents(160, 100, 6, 30);
    Outcome warm = Runs.run("warm", trace, 4, LARGE, Incident.of(10, 3, Kind.BLACK_HOLE));
    assertThat(warm.answered()).isEqualTo(trace.requests());
    assertThat(warm.meanMillis()).isLessThan(2 * Runs.run("warm", trace, 3, LARGE).meanMillis());
  }

  @Test
  void anEngineWhoseEventsAreLostDoesNotHerd() {
    Trace trace = agents(160, 100, 6, 30);
    Outcome warm = Runs.run("warm", trace, 4, 8000, Incident.of(20, 1, Kind.DEAF));
    assertThat(warm.answered()).isEqualTo(trace.requests());
    assertThat(warm.imbalance()).isLessThan(2);
  }

  /** Sessions in closed loop: a prompt that all share, and turns that grow by so many blocks. */
  private Trace agents(int sessions, int sharedBlocks, int turns, int grownBlocks) {
    int shared = numbers(sharedBlocks);
    TraceBuilder trace = new TraceBuilder("agents", BLOCK);
    for (int session = 0; session < sessions; session++) {
      int before = Trace.NONE;
      int own = 0;
      for (int turn = 0; turn < turns; turn++) {
        int grown = 1 + random.nextInt(2 * grownBlocks);
        double seconds = before == Trace.NONE ? 60 * random.nextDouble() : 4 * random.nextDouble();
        int number = trace.requests();
        int tokens = BLOCK * (sharedBlocks + own + grown) + random.nextInt(BLOCK);
        trace.request(seconds, before, session, tokens, 40 + random.nextInt(160));
        if (before == Trace.NONE) {
          trace.blocks(shared, sharedBlocks);
        } else {
          trace.blocksOf(before, sharedBlocks + own);
        }
        trace.blocks(numbers(grown), grown);
        own += grown;
        before = number;
      }
    }
    return trace.build();
  }

  private int numbers(int count) {
    int first = nextBlock;
    nextBlock += count;
    return first;
  }

  /** Tokens that a single cache without end would compute. */
  private static long unique(Trace trace) {
    long tokens = 0;
    java.util.Set<Integer> seen = new java.util.HashSet<>();
    for (int request = 0; request < trace.requests(); request++) {
      int[] numbers = trace.blockNumbers(request);
      tokens += trace.promptTokens(request) - (long) BLOCK * numbers.length;
      for (int number : numbers) {
        tokens += seen.add(number) ? BLOCK : 0;
      }
    }
    return tokens;
  }
}
