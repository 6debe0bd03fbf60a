package dev.warmpath.simulator.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.router.dispatch.UncachedTokens;
import dev.warmpath.router.dispatch.UncachedTokens.Cause;
import dev.warmpath.simulator.fleet.FleetPlan.Incident;
import dev.warmpath.simulator.fleet.FleetPlan.Incident.Kind;
import dev.warmpath.simulator.fleet.Runs.Outcome;
import dev.warmpath.simulator.trace.Trace;
import dev.warmpath.simulator.trace.TraceBuilder;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Replicas that leave and join while a fleet serves. */
class ChangeTest {

  private static final int BLOCK = 64;
  private static final int BLOCKS = 4000;
  private static final double AT = 60;

  @ParameterizedTest
  @ValueSource(strings = {"warm", "round-robin", "conductor", "sticky"})
  void oneThatLeavesEndsWhatItHasAndGetsNothingNew(String policy) {
    Trace trace = chats(150, 6);
    Outcome unchanged = Runs.run(policy, trace, 4, BLOCKS);
    Outcome left = Runs.run(policy, trace, 4, BLOCKS, Incident.of(AT, 2, Kind.LEAVE));
    assertThat(left.answered()).isEqualTo(trace.requests());
    assertThat(enginesAfter(left.measures(), AT)).containsExactlyInAnyOrder(0, 1, 3);
    assertThat(runningAt(left.measures(), 2)).as("there was something to end").isPositive();
    assertSameUntil(AT, left.measures(), unchanged.measures());
    addsUp(left.measures());
  }

  @Test
  void whatItHeldIsLost() {
    TraceBuilder trace = new TraceBuilder("one", BLOCK);
    trace.request(0, Trace.NONE, 0, 100 * BLOCK, 10).blocks(0, 100);
    trace.request(100, 0, 0, 120 * BLOCK, 10).blocks(0, 120);
    int first = Runs.run("warm", trace.build(), 2, BLOCKS).measures().engine(0);
    Measures measures =
        Runs.run("warm", trace.build(), 2, BLOCKS, Incident.of(50, first, Kind.LEAVE)).measures();
    assertThat(measures.engine(1)).isEqualTo(1 - first);
    assertThat(measures.predictedTokens(1)).isZero();
    assertThat(measures.cachedTokens(1)).isZero();
    UncachedTokens causes = measures.uncachedTokens(1);
    assertThat(causes).isNotNull();
    assertThat(causes.byCause()).isEqualTo(Map.of(Cause.LOST, 100 * BLOCK, Cause.NEW, 20 * BLOCK));
  }

  /** While it drains, what it holds is elsewhere; once its last answer is over, it is lost. */
  @ParameterizedTest
  @CsvSource({"20, ELSEWHERE", "200, LOST"})
  void itIsGoneWithItsLastAnswer(double seconds, Cause cause) {
    TraceBuilder trace = new TraceBuilder("two", BLOCK);
    trace.request(0, Trace.NONE, 0, 100 * BLOCK, 3000).blocks(0, 100);
    trace.request(0, Trace.NONE, 1, BLOCK, 1).blocks(1000, 1);
    trace.request(seconds, 1, 1, 100 * BLOCK, 1).blocks(0, 100);
    int first = Runs.run("warm", trace.build(), 2, BLOCKS).measures().engine(0);
    Incident leave = Incident.of(10, first, Kind.LEAVE);
    Measures measures = Runs.run("warm", trace.build(), 2, BLOCKS, leave).measures();
    assertThat(measures.answeredMillis(0)).isBetween(21_000.0, 190_000.0);
    assertThat(measures.engine(2)).isEqualTo(1 - first);
    Cause other = cause == Cause.LOST ? Cause.ELSEWHERE : Cause.LOST;
    assertThat(causes(measures, 2)).contains(cause).doesNotContain(other);
  }

  /** Round robin gives each engine one of three prompts, and knows of no reuse. */
  @ParameterizedTest
  @CsvSource({
    "LEAST_WORTH_LEAVES, 10, 50, 100, 0",
    "LEAST_WORTH_LEAVES, 50, 10, 100, 1",
    "LEAST_WORTH_LEAVES, 100, 50, 10, 2",
    "MOST_WORTH_LEAVES, 10, 50, 100, 2",
    "MOST_WORTH_LEAVES, 100, 50, 10, 0"
  })
  void byWorthGoesTheOneWhoseSoleContentIsWorthLeastOrMost(
      Kind kind, int blocks0, int blocks1, int blocks2, int expected) {
    TraceBuilder trace = new TraceBuilder("three", BLOCK);
    oneAfterAnother(trace, 0, blocks0, 0);
    oneAfterAnother(trace, 1, blocks1, 1000);
    oneAfterAnother(trace, 1, blocks2, 2000);
    nineLater(trace);
    Measures measures =
        Runs.run("round-robin", trace.build(), 3, BLOCKS, Incident.of(10, 0, kind)).measures();
    int[] first = IntStream.range(0, 3).map(measures::engine).toArray();
    assertThat(first).containsExactlyInAnyOrder(0, 1, 2);
    assertThat(enginesAfter(measures, 15)).hasSize(2).doesNotContain(first[expected]);
  }

  @Test
  void sharedContentIsWorthNothing() {
    TraceBuilder trace = new TraceBuilder("shared", BLOCK);
    oneAfterAnother(trace, 0, 100, 0);
    oneAfterAnother(trace, 1, 100, 0);
    oneAfterAnother(trace, 1, 10, 1000);
    nineLater(trace);
    Measures measures =
        Runs.run(
                "round-robin", trace.build(), 3, BLOCKS, Incident.of(10, 0, Kind.MOST_WORTH_LEAVES))
            .measures();
    assertThat(enginesAfter(measures, 15)).hasSize(2).doesNotContain(measures.engine(2));
  }

  @Test
  void whatArrivesLaterIsLeftOut() {
    Trace trace = chats(150, 6);
    Workload workload = new Workload(trace, 1, 1, 1);
    FleetPlan plan =
        FleetPlan.of(
            3, Runs.engine(BLOCK, BLOCKS), IndexMode.NOW, () -> PolicySpec.make("warm"), 1);
    Measures all = new VirtualFleet(plan, workload).run(arrivals -> {});
    Measures some = new VirtualFleet(plan, workload).run(arrivals -> {}, AT);
    assertSameUntil(AT, some, all);
    assertSameUntil(AT, all, some);
    assertThat(enginesAfter(some, AT)).isEmpty();
    assertThat(enginesAfter(all, AT)).isNotEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"warm", "round-robin", "conductor", "sticky"})
  void oneThatJoinsServesFromThenOn(String policy) {
    Trace trace = chats(150, 6);
    Outcome unchanged = Runs.run(policy, trace, 3, BLOCKS);
    Outcome joined =
        new Outcome(
            Runs.run(policy, trace, 3, BLOCKS, Incident.of(AT, 3, Kind.JOIN)).measures(), 4);
    assertThat(joined.answered()).isEqualTo(trace.requests());
    assertThat(enginesAfter(joined.measures(), AT)).contains(3);
    assertSameUntil(AT, joined.measures(), unchanged.measures());
    addsUp(joined.measures());
  }

  /** Families of sessions share a prompt of 300 blocks each; a cold newcomer computes it anew. */
  @ParameterizedTest
  @CsvSource({"JOIN, 0", "JOIN_WARM, 300"})
  void aWarmOneHoldsWhatSessionsShare(Kind kind, int blocks) {
    SplittableRandom random = new SplittableRandom(7);
    TraceBuilder trace = new TraceBuilder("families", BLOCK);
    for (int session = 0; session < 300; session++) {
      trace.request(200 * random.nextDouble(), Trace.NONE, session, 310 * BLOCK, 100);
      trace.blocks(1000 * random.nextInt(3), 300).blocks(100_000 + 10 * session, 10);
    }
    Measures measures =
        new Outcome(
                Runs.run("warm", trace.build(), 2, BLOCKS, Incident.of(AT, 2, kind)).measures(), 3)
            .measures();
    int first =
        IntStream.range(0, measures.requests())
            .filter(request -> measures.engine(request) == 2)
            .boxed()
            .min(Comparator.comparingDouble(measures::arrivedSeconds))
            .orElseThrow();
    assertThat(measures.cachedTokens(first)).isEqualTo(blocks * BLOCK);
    assertThat(measures.predictedTokens(first)).isEqualTo(blocks * BLOCK);
    addsUp(measures);
  }

  @Test
  void aRequestEndsWhatAWarmOneComputesForLater() {
    Trace trace = chats(150, 6);
    Outcome outcome =
        new Outcome(
            Runs.run("round-robin", trace, 3, BLOCKS, Incident.of(AT, 3, Kind.JOIN_WARM))
                .measures(),
            4);
    Outcome again =
        new Outcome(
            Runs.run("round-robin", trace, 3, BLOCKS, Incident.of(AT, 3, Kind.JOIN_WARM))
                .measures(),
            4);
    assertThat(outcome.answered()).isEqualTo(trace.requests());
    assertThat(enginesAfter(outcome.measures(), AT)).contains(3);
    assertSameUntil(AT, outcome.measures(), Runs.run("round-robin", trace, 3, BLOCKS).measures());
    assertThat(again.measures()).usingRecursiveComparison().isEqualTo(outcome.measures());
    addsUp(outcome.measures());
  }

  @Test
  void oneJoinsAndAnotherLeaves() {
    Trace trace = chats(150, 6);
    Incident[] both = {Incident.of(AT, 3, Kind.JOIN), Incident.of(AT + 20, 0, Kind.LEAVE)};
    Outcome once = new Outcome(Runs.run("warm", trace, 3, BLOCKS, both).measures(), 4);
    Outcome again = new Outcome(Runs.run("warm", trace, 3, BLOCKS, both).measures(), 4);
    assertThat(once.answered()).isEqualTo(trace.requests());
    assertThat(enginesAfter(once.measures(), AT + 20)).containsExactlyInAnyOrder(1, 2, 3);
    assertThat(again.measures()).usingRecursiveComparison().isEqualTo(once.measures());
  }

  @ParameterizedTest
  @ValueSource(strings = {"exact", "delayed:50", "approx"})
  void everyIndexAndSeveralRoutersLoseNoRequest(String index) {
    Trace trace = chats(150, 6);
    Outcome outcome =
        new Outcome(
            Runs.run(
                    "warm",
                    trace,
                    3,
                    Runs.engine(BLOCK, BLOCKS),
                    IndexMode.parse(index),
                    new Routers(3, false, new Routers.Sharing(2, 0, 0)),
                    Incident.of(AT, 0, Kind.LEAST_WORTH_LEAVES),
                    Incident.of(AT + 20, 3, Kind.JOIN))
                .measures(),
            4);
    assertThat(outcome.answered()).isEqualTo(trace.requests());
    assertThat(enginesAfter(outcome.measures(), AT + 20)).hasSize(3).contains(3);
  }

  @Test
  void readsWhatItWrites() {
    for (String text :
        List.of(
            "none",
            "leave:least-worth",
            "leave:most-worth",
            "leave:random",
            "leave:0",
            "leave:7",
            "join:cold",
            "join:warm")) {
      assertThat(Change.parse(text, 8)).hasToString(text);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "leave", "leave:", "leave:-1", "leave:N", "leave:worst", "join:0"})
  void namesWhatThereIs(String text) {
    assertThatThrownBy(() -> Change.parse(text, 8))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("must be none, leave:least-worth, ");
  }

  @Test
  void onlyEnginesOfTheFleetLeave() {
    assertThatThrownBy(() -> Change.parse("leave:8", 8))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("engines are from 0 to 7");
  }

  @Test
  void randomIsAnotherOneWithEachSeedAndTheSameWithTheSame() {
    Change random = Change.parse("leave:random", 8);
    List<Integer> drawn =
        IntStream.range(0, 200)
            .mapToObj(seed -> random.incidents(1, 8, seed).get(0).engine())
            .toList();
    for (int engine = 0; engine < 8; engine++) {
      int number = engine;
      assertThat(drawn.stream().filter(each -> each == number).count()).isBetween(10L, 40L);
    }
    assertThat(random.incidents(1, 8, 5)).isEqualTo(random.incidents(1, 8, 5));
  }

  private static void oneAfterAnother(TraceBuilder trace, double think, int blocks, int name) {
    trace.request(think, trace.requests() - 1, 0, blocks * BLOCK, 2).blocks(name, blocks);
  }

  /** From 20 s on. */
  private static void nineLater(TraceBuilder trace) {
    for (int i = 0; i < 9; i++) {
      oneAfterAnother(trace, i == 0 ? 20 : 1, 10, 10_000 + 100 * i);
    }
  }

  private static Set<Cause> causes(Measures measures, int request) {
    UncachedTokens tokens = measures.uncachedTokens(request);
    assertThat(tokens).isNotNull();
    return tokens.byCause().keySet();
  }

  private static void addsUp(Measures measures) {
    for (int request = 0; request < measures.requests(); request++) {
      UncachedTokens tokens = measures.uncachedTokens(request);
      assertThat(tokens).isNotNull();
      assertThat(tokens.total())
          .isEqualTo(measures.promptTokens(request) - measures.cachedTokens(request));
    }
  }

  /** Engines of requests that arrived after a time. */
  private static Set<Integer> enginesAfter(Measures measures, double seconds) {
    return IntStream.range(0, measures.requests())
        .filter(request -> measures.arrivedSeconds(request) > seconds)
        .mapToObj(measures::engine)
        .collect(Collectors.toSet());
  }

  private static long runningAt(Measures measures, int engine) {
    return IntStream.range(0, measures.requests())
        .filter(request -> measures.engine(request) == engine)
        .filter(request -> measures.arrivedSeconds(request) < AT)
        .filter(request ->
            measures.arrivedSeconds(request) + measures.answeredMillis(request) / 1e3 > AT)
        .count();
  }

  private static void assertSameUntil(double seconds, Measures one, Measures other) {
    for (int request = 0; request < one.requests(); request++) {
      if (one.arrivedSeconds(request) < seconds) {
        assertThat(one.engine(request)).isEqualTo(other.engine(request));
        assertThat(one.arrivedSeconds(request)).isEqualTo(other.arrivedSeconds(request));
      }
    }
  }

  /** Chats in closed loop that begin within 100 s and share a system prompt. */
  private static Trace chats(int sessions, int turns) {
    SplittableRandom random = new SplittableRandom(5);
    TraceBuilder trace = new TraceBuilder("chats", BLOCK);
    for (int session = 0; session < sessions; session++) {
      int before = Trace.NONE;
      for (int turn = 0; turn < turns; turn++) {
        int own = 40 * (turn + 1);
        double seconds = before == Trace.NONE ? 100 * random.nextDouble() : 6 * random.nextDouble();
        int number = trace.requests();
        trace.request(seconds, before, session, BLOCK * (20 + own) + 7, 50 + random.nextInt(200));
        trace.blocks(0, 20).blocks(1000 * (session + 1), own);
        before = number;
      }
    }
    return trace.build();
  }
}
