package dev.warmpath.simulator.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.dispatch.UncachedTokens;
import dev.warmpath.router.dispatch.UncachedTokens.Cause;
import dev.warmpath.simulator.fleet.FleetPlan.Incident;
import dev.warmpath.simulator.fleet.Runs.Outcome;
import dev.warmpath.simulator.trace.Trace;
import dev.warmpath.simulator.trace.TraceBuilder;
import java.util.EnumMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each token that a fleet computes has one cause, and what is done to a fleet shows in them. */
class UncachedTest {

  private static final int BLOCK = 16;

  @ParameterizedTest
  @CsvSource({"warm, 300", "warm, 2000", "round-robin, 300", "round-robin, 2000", "sticky, 600"})
  void theCausesOfEachRequestAddUp(String policy, int blocks) {
    Outcome outcome =
        Runs.run(
            policy,
            chats(12, 10),
            3,
            blocks,
            Incident.of(40, 0, Incident.Kind.FAIL),
            Incident.of(50, 0, Incident.Kind.RECOVER),
            Incident.of(80, 1, Incident.Kind.FORGOTTEN),
            Incident.of(100, 2, Incident.Kind.DEAF));
    Measures measures = outcome.measures();
    int judged = 0;
    for (int request = 0; request < measures.requests(); request++) {
      UncachedTokens tokens = measures.uncachedTokens(request);
      if (tokens != null) {
        judged++;
        int computed = measures.promptTokens(request) - measures.cachedTokens(request);
        assertThat(tokens.total()).as("request %d", request).isEqualTo(computed);
      }
    }
    assertThat(judged).isGreaterThan(60);
  }

  @Test
  void chatsThatNobodyEvictsAreNewAlone() {
    Map<Cause, Long> causes = causes(Runs.run("warm", chats(6, 8), 1, 4000));
    assertThat(causes.keySet()).containsExactly(Cause.NEW);
  }

  @Test
  void cachesThatAreTooSmallEvict() {
    Map<Cause, Long> causes = causes(Runs.run("warm", chats(12, 8), 1, 400));
    assertThat(causes.get(Cause.EVICTED)).isGreaterThan(2 * others(causes, Cause.EVICTED));
    assertThat(causes).doesNotContainKeys(Cause.LOST, Cause.ELSEWHERE);
  }

  @Test
  void aPolicyThatSpreadsChatsComputesWhatIsElsewhere() {
    Map<Cause, Long> causes = causes(Runs.run("round-robin", chats(13, 8), 4, 4000));
    assertThat(causes.get(Cause.ELSEWHERE)).isGreaterThan(others(causes, Cause.ELSEWHERE));
    assertThat(causes).doesNotContainKeys(Cause.LOST, Cause.EVICTED);
  }

  @Test
  void whatRestartsTookIsLost() {
    Map<Cause, Long> causes =
        causes(
            Runs.run(
                "warm",
                chats(12, 3),
                1,
                4000,
                Incident.of(11.9, 0, Incident.Kind.FAIL),
                Incident.of(11.95, 0, Incident.Kind.RECOVER),
                Incident.of(23.9, 0, Incident.Kind.FAIL),
                Incident.of(23.95, 0, Incident.Kind.RECOVER)));
    assertThat(causes.get(Cause.LOST)).isGreaterThan(others(causes, Cause.LOST));
    assertThat(causes).doesNotContainKeys(Cause.ELSEWHERE, Cause.EVICTED);
  }

  @Test
  void anIndexThatMissesRemovalsMispredicts() {
    Map<Cause, Long> causes =
        causes(Runs.run("warm", chats(12, 12), 1, 400, Incident.of(40, 0, Incident.Kind.DEAF)));
    assertThat(causes.get(Cause.MISPREDICTED)).isGreaterThan(causes.getOrDefault(Cause.LOST, 0L));
    assertThat(causes.get(Cause.MISPREDICTED)).isPositive();
  }

  private static Map<Cause, Long> causes(Outcome outcome) {
    Map<Cause, Long> sums = new EnumMap<>(Cause.class);
    Measures measures = outcome.measures();
    for (int request = 0; request < measures.requests(); request++) {
      UncachedTokens tokens = measures.uncachedTokens(request);
      if (tokens != null) {
        tokens.byCause().forEach((cause, count) -> sums.merge(cause, (long) count, Long::sum));
      }
    }
    return sums;
  }

  private static long others(Map<Cause, Long> causes, Cause but) {
    return causes.entrySet().stream()
        .filter(each -> each.getKey() != but)
        .mapToLong(Map.Entry::getValue)
        .sum();
  }

  /** Chats in turn, one request a second; each begins with 60 blocks and grows by 4 a turn. */
  private static Trace chats(int chats, int turns) {
    TraceBuilder trace = new TraceBuilder("chats", BLOCK);
    for (int turn = 0; turn < turns; turn++) {
      for (int chat = 0; chat < chats; chat++) {
        int before = trace.requests() - 1;
        int blocks = 60 + 4 * turn;
        trace.request(before < 0 ? 0 : 0.5, before, chat, BLOCK * blocks + 5, 20);
        trace.blocks(1000 * chat, blocks);
      }
    }
    return trace.build();
  }
}
