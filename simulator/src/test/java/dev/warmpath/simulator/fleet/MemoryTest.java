package dev.warmpath.simulator.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.routing.Policies;
import dev.warmpath.simulator.fleet.Runs.Outcome;
import dev.warmpath.simulator.trace.Trace;
import dev.warmpath.simulator.trace.TraceBuilder;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whether a fleet's whole memory is used, and what happens where there is too little. */
class MemoryTest {

  private static final int BLOCK = 16;
  private static final int SYSTEM_BLOCKS = 5;
  private static final int TURN_BLOCKS = 7;
  private static final int TURNS = 10;
  private static final long DAY_MILLIS = 86_400_000;

  /** Chats that take turns, with a think time in which all others have theirs. */
  private static Trace chats(
      int lanes, int sessions, double thinkSeconds, int beginning, int growth) {
    TraceBuilder trace = new TraceBuilder("chats", BLOCK);
    int next = 1_000;
    for (int lane = 0; lane < lanes; lane++) {
      int before = Trace.NONE;
      for (int session = 0; session < sessions; session++) {
        int tenant = (lane + session) % 5;
        int turns = session == 0 ? 1 + lane % TURNS : TURNS;
        for (int turn = 0; turn < turns; turn++) {
          int own = beginning + growth * (turn + 1);
          double wait = before == Trace.NONE ? thinkSeconds * lane / lanes : thinkSeconds;
          int length = BLOCK * (SYSTEM_BLOCKS + own) + 3;
          trace.request(wait, before, lane * 1_000 + session, length, 24);
          trace.blocks(100 * tenant, SYSTEM_BLOCKS).blocks(next, own);
          before = trace.requests() - 1;
        }
        next += beginning + growth * TURNS;
      }
    }
    return trace.build();
  }

  /** The demo's chats and engines, and more of both; caches of half to twice the working set. */
  @ParameterizedTest
  @CsvSource({
    "49, 4, 430, 0.05", // one cache of the fleet's size would forget too
    "49, 4, 864, 0.01",
    "49, 4, 1300, 0.01",
    "25, 2, 600, 0.01",
    "97, 8, 864, 0.01",
    "193, 16, 700, 0.01"
  })
  void theWholeFleetsMemoryIsUsed(int lanes, int engines, int blocks, double behind) {
    Trace trace = chats(lanes, 6, 10, 0, TURN_BLOCKS);
    Outcome warm = Runs.run("warm", trace, engines, blocks);
    for (String rival : List.of("sticky", "conductor", "llm-d-weighted", "round-robin")) {
      Outcome other = Runs.run(rival, trace, engines, blocks);
      assertThat(warm.hitRate()).as(rival).isGreaterThan(other.hitRate() - behind);
      assertThat(warm.meanMillis()).as(rival).isLessThan(1.06 * other.meanMillis());
    }
    int fewest = Arrays.stream(warm.requests()).min().orElseThrow();
    assertThat(fewest).isGreaterThan(trace.requests() / engines / 3);
  }

  private static Outcome run(Map<String, Double> options, Trace trace, int engines, int blocks) {
    return run(options, trace, engines, blocks, FleetPlan.QUEUE_MILLIS);
  }

  private static Outcome run(
      Map<String, Double> options, Trace trace, int engines, int blocks, long queueMillis) {
    FleetPlan plan =
        new FleetPlan(
            engines,
            Runs.engine(BLOCK, blocks),
            IndexMode.NOW,
            () -> Policies.named("warm", options),
            queueMillis,
            1,
            List.of(),
            Routers.ONE,
            Pairs.NONE,
            FleetPlan.Beyond.HOST);
    Workload workload = new Workload(trace, 1, 1, 1);
    return new Outcome(new VirtualFleet(plan, workload).run(arrivals -> {}), engines);
  }

  /** Contexts of up to 30,000 tokens, of which each engine has room for twelve, and 60 chats. */
  @Test
  void whatDoesNotFitWaitsAndTheRestGoesOn() {
    Trace trace = chats(60, 4, 5, 1_250, 60);
    Outcome held = run(Map.of(), trace, 2, 19_000, DAY_MILLIS);
    Outcome free = run(Map.of("hold-above", 2.0), trace, 2, 19_000);
    assertThat(held.answered()).isEqualTo(trace.requests());
    assertThat(held.hitRate()).isGreaterThan(free.hitRate() + 0.3);
    assertThat(held.meanMillis()).isLessThan(0.8 * free.meanMillis());
  }

  /** Some chats more than fit: without holding each of them evicts the next one's context. */
  @ParameterizedTest
  @CsvSource({"28, 0.2", "32, 0.4", "40, 0.4"})
  void aLittleTooMuchDoesNotLoseAll(int chats, double more) {
    Trace trace = chats(chats, 4, 5, 1_250, 60);
    Outcome held = run(Map.of(), trace, 2, 19_000, DAY_MILLIS);
    Outcome free = run(Map.of("hold-above", 2.0), trace, 2, 19_000);
    assertThat(held.answered()).isEqualTo(trace.requests());
    assertThat(held.hitRate()).isGreaterThan(free.hitRate() + more);
    assertThat(held.meanMillis()).isLessThan(0.8 * free.meanMillis());
  }

  /** A turn is tried three times in the queue, as by clients that ask again twice. */
  @Test
  void nobodyWaitsLongerThanTheQueueAllows() {
    Trace trace = chats(60, 4, 5, 1_250, 60);
    Outcome free = run(Map.of("hold-above", 2.0), trace, 2, 19_000);
    Outcome held = run(Map.of(), trace, 2, 19_000);
    Measures measures = held.measures();
    double longest = 0;
    int refused = 0;
    for (int i = 0; i < measures.requests(); i++) {
      longest = measures.firstMillis(i) > longest ? measures.firstMillis(i) : longest;
      refused += measures.isRejected(i) ? 1 : 0;
    }
    assertThat(refused).isBetween(1, 30); // each ends one of 60 chats
    assertThat(longest).isLessThan(3 * FleetPlan.QUEUE_MILLIS + 2 * 1_000 + free.meanMillis());
    assertThat(held.hitRate()).isGreaterThan(free.hitRate() + 0.5);
  }

  /** A fleet with room for all holds nobody: it does the same to the last millisecond. */
  @Test
  void whereAllFitsNobodyWaits() {
    Trace trace = chats(60, 4, 5, 1_250, 60);
    Outcome held = run(Map.of(), trace, 8, 40_000);
    Outcome free = run(Map.of("hold-above", 2.0), trace, 8, 40_000);
    assertThat(held.meanMillis()).isEqualTo(free.meanMillis());
  }
}
