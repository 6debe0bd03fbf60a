package dev.warmpath.router.dispatch;

import static dev.warmpath.router.dispatch.World.prompt;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.Trust;
import dev.warmpath.router.fleet.Outcome;
import dev.warmpath.tokenizer.PromptResult;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Situations in which policies that only look at cache, or only at load, fail. */
class TrapsTest {

  private final World world = new World("warm").with(4);

  @Test
  void aRootBlockThatAllPromptsShareDoesNotHerd() {
    world.store("r0", 1, prompt(16, 0, 1, 0));
    Map<String, Integer> picks = picks(prompts(100, 16, 1000));
    assertThat(picks).hasSize(4);
    assertThat(picks.values()).allSatisfy(count -> assertThat(count).isBetween(20, 30));
  }

  @Test
  void manySiblingsAtOnceNeitherHerdNorScatter() {
    // 8000 shared tokens, nowhere cached: computing them once a replica is the least that spreading
    // costs; a replica is worth starting only when the queue elsewhere is longer than three misses.
    Map<String, Integer> picks = picks(prompts(100, 8000, 400));
    assertThat(picks).hasSizeBetween(2, 4);
    assertThat(Collections.max(picks.values())).isLessThan(70);

    Map<String, Integer> few = new TreeMap<>();
    World calm = new World("warm").with(4);
    for (PromptResult prompt : prompts(8, 8000, 100)) {
      few.merge(calm.assign(prompt).replica().name(), 1, Integer::sum);
    }
    assertThat(few).hasSize(1);
  }

  @Test
  void siblingsStayTogetherBeforeTheFirstEventOfAFreshFleet() {
    World fresh = new World("warm").with(4);
    fresh.fleet.replicas().forEach(replica -> fresh.views.remove(replica));
    Map<String, Integer> picks = new TreeMap<>();
    for (PromptResult prompt : prompts(8, 8000, 100)) {
      picks.merge(fresh.assign(prompt).replica().name(), 1, Integer::sum);
    }
    assertThat(picks).hasSize(1);
  }

  @Test
  void aHotPromptOnOneReplicaMovesOnWhenItsQueueIsLong() {
    world.store("r0", 60, prompt(1000));
    Map<String, Integer> picks = new TreeMap<>();
    for (int i = 0; i < 100; i++) {
      picks.merge(world.assign(prompt(1000)).replica().name(), 1, Integer::sum);
    }
    assertThat(picks).hasSizeGreaterThan(1);
    assertThat(picks.get("r0")).isBetween(25, 70);
  }

  @Test
  void aReplicaThatFailsAtOnceDoesNotSwallowTheTraffic() {
    int swallowed = 0;
    for (PromptResult prompt : prompts(200, 0, 1000)) {
      Assignment assignment = world.assign(prompt);
      if (assignment.replica().name().equals("r3")) {
        assignment.finished(Outcome.FAILED);
        swallowed++;
      }
      world.pass(10);
    }
    // Three failures, then one more at the end of each ejection: 2 s of traffic see 1 s pass
    // once.
    assertThat(swallowed).isBetween(3, 5);
    assertThat(world.report("r3").state().ejected()).isTrue();
  }

  @Test
  void ofReplicasThatAllFailOneIsStillTried() {
    for (PromptResult prompt : prompts(40, 0, 100)) {
      world.assign(prompt).finished(Outcome.FAILED);
    }
    assertThat(world.dispatcher.report()).allMatch(report -> report.state().ejected());
    assertThat(world.assign(prompt(100))).isNotNull();
  }

  @Test
  void requestsThatFailTogetherAreOneFailureTooMany() {
    List<Assignment> underWay = new ArrayList<>();
    for (PromptResult prompt : prompts(80, 0, 1000)) {
      underWay.add(world.assign(prompt));
    }
    underWay.removeIf(assignment -> !assignment.replica().name().equals("r3"));
    assertThat(underWay).hasSizeGreaterThan(8);
    underWay.forEach(assignment -> assignment.finished(Outcome.FAILED)); // it was killed
    assertThat(world.report("r3").state().ejected()).isTrue();
    world.pass(1000);
    assertThat(world.report("r3").state().ejected()).isFalse();
  }

  @Test
  void anEjectedReplicaIsNoRefugeFromFullOnes() {
    World tight = new World("least-requests", 2).with(2);
    for (int i = 0; i < 6; i++) {
      Assignment assignment = tight.assign(prompt(10));
      boolean good = assignment.engine().equals("r0");
      assignment.finished(good ? Outcome.COMPLETED : Outcome.FAILED);
    }
    assertThat(tight.report("r1").state().ejected()).isTrue();
    Assignment first = tight.assign(prompt(10));
    tight.assign(prompt(10));
    List<DispatchResult> later = new ArrayList<>();
    assertThat(tight.dispatcher.admit(World.request(prompt(10)), later::add))
        .isInstanceOf(DispatchResult.Queued.class);
    first.finished(Outcome.COMPLETED);
    assertThat(later)
        .singleElement()
        .isInstanceOfSatisfying(
            Assignment.class, given -> assertThat(given.engine()).isEqualTo("r0"));
  }

  @Test
  void refusalsEjectNobody() {
    for (PromptResult prompt : prompts(40, 0, 100)) {
      world.assign(prompt).finished(Outcome.REFUSED);
    }
    assertThat(world.dispatcher.report()).noneMatch(report -> report.state().ejected());
  }

  @Test
  void aReplicaThatIsNotTrustedIsCreditedLess() {
    for (int i = 0; i < 4; i++) {
      world.store("r" + i, 50, prompt(1000));
    }
    world.trust("r0", Trust.SUSPECT);
    world.trust("r1", Trust.CATCHING_UP);
    world.trust("r2", Trust.NONE);
    Explanation explanation = world.dispatcher.explain(World.request(prompt(1000)));
    assertThat(explanation.engines())
        .extracting(Explanation.Row::creditTokens)
        .containsExactly(600, 400, 0, 800);
    assertThat(explanation.winner()).isEqualTo("r3");
  }

  @Test
  void promptsThatNobodyHasSpreadOverWarmAndCold() {
    world.store("r0", 50, prompt(1000));
    assertThat(picks(prompts(4, 0, 1000)).keySet()).hasSize(4);
  }

  @Test
  void evictedBlocksAreNotCreditedOnceTheyWereConfirmed() {
    PromptResult prompt = prompt(1000);
    Assignment first = world.assign(prompt);
    String home = first.replica().name();
    world.store(home, 62, prompt);
    assertThat(world.assign(prompt).replica().name()).isEqualTo(home);
    world.evict(home, 0, prompt);
    Explanation.Row there =
        world.dispatcher.explain(World.request(prompt)).engines().stream()
            .filter(candidature -> candidature.engine().equals(home))
            .findFirst()
            .orElseThrow();
    assertThat(there.matchedTokens()).isZero();
    assertThat(there.expectedTokens()).isZero();
  }

  private Map<String, Integer> picks(List<PromptResult> prompts) {
    Map<String, Integer> picks = new TreeMap<>();
    for (PromptResult prompt : prompts) {
      picks.merge(world.assign(prompt).replica().name(), 1, Integer::sum);
    }
    return picks;
  }

  private static List<PromptResult> prompts(int count, int sharedTokens, int ownTokens) {
    List<PromptResult> prompts = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      prompts.add(prompt(sharedTokens, ownTokens, 1, i));
    }
    return prompts;
  }
}
