package dev.warmpath.router.dispatch;

import static dev.warmpath.router.dispatch.World.prompt;
import static dev.warmpath.router.dispatch.World.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.eventingest.Trust;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.router.dispatch.DispatchResult.Cause;
import dev.warmpath.router.dispatch.DispatchResult.NoCandidate;
import dev.warmpath.router.dispatch.Prediction.Basis;
import dev.warmpath.router.fleet.Outcome;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.routing.Load;
import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.body.FallbackCause;
import java.net.URI;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Who may get a request, what is predicted, and what is heard of it. */
class DispatcherTest {

  private final World world = new World("warm");

  @Test
  void theReplicaThatHoldsThePrefixGetsTheRequest() {
    world.with(4).store("r2", 50, prompt(1000));
    Assignment assignment = world.assign(prompt(1000));
    assertThat(assignment.replica().name()).isEqualTo("r2");
    assertThat(assignment.choice().prediction()).isEqualTo(new Prediction(800, Basis.INDEX));
    assertThat(world.heard).containsExactly("assigned warm cache r2");
  }

  @Test
  void aReplicaGetsRequestsByItsWeight() {
    World weighted = new World("least-requests").with(2);
    weighted.replica("r1").weight(3);
    List<String> chosen =
        IntStream.range(0, 8).mapToObj(i -> weighted.assign(prompt(10)).replica().name()).toList();
    assertThat(Collections.frequency(chosen, "r1")).isEqualTo(6);
  }

  @Test
  void thePromptIsToldOfUnlessAllOfItIsKnownToBeHeld() {
    world.with(1).store("r0", 50, prompt(1000));
    world.assign(prompt(1000));
    assertThat(world.given).containsExactly("r0 62");
    world.store("r0", 62, prompt(1000));
    world.assign(prompt(1000));
    assertThat(world.given).hasSize(1);
  }

  @Test
  void anEmptyCacheIsPredictedAsEmpty() {
    world.with(1);
    assertThat(world.assign(prompt(1000)).choice().prediction())
        .isEqualTo(new Prediction(0, Basis.INDEX));
  }

  @Test
  void whatIsOnlyExpectedIsNotPredicted() {
    world.with(1);
    world.assign(prompt(1000));
    assertThat(world.assign(prompt(1000)).choice().prediction().cachedTokens()).isZero();
  }

  @ParameterizedTest
  @EnumSource(
      value = Trust.class,
      names = {"SUSPECT", "CATCHING_UP"})
  void nothingIsPredictedFromAnIndexThatIsNotExact(Trust trust) {
    world.with(1).store("r0", 10, prompt(1000));
    world.trust("r0", trust);
    assertThat(world.assign(prompt(1000)).choice().prediction().basis())
        .isEqualTo(Basis.NOT_TRUSTED);
  }

  @Test
  void nothingIsPredictedForAnEngineThatIsNotHeard() {
    world.with(1);
    world.trust("r0", Trust.NONE);
    assertThat(world.assign(prompt(1000)).choice().prediction().basis()).isEqualTo(Basis.NO_EVENTS);
    world.views.clear();
    assertThat(world.assign(prompt(1000)).choice().prediction().basis()).isEqualTo(Basis.NO_EVENTS);
  }

  @Test
  void aRequestThatReadsNoCacheIsPredictedToFindNothing() {
    world.with(2).store("r0", 50, prompt(1000));
    PromptResult reads = prompt(1000);
    PromptResult.Tokens skips =
        new PromptResult.Tokens(
            ((PromptResult.Tokens) reads).sequences(), PromptKeys.NONE, false, true, null);
    Explanation explanation = world.dispatcher.explain(request(skips));
    assertThat(explanation.engines()).extracting(Explanation.Row::creditTokens).containsOnly(0);
    assertThat(world.assign(skips).choice().prediction())
        .isEqualTo(new Prediction(0, Basis.READS_NO_CACHE));
  }

  @Test
  void severalPromptsAreNotPredictedButTheFirstFindsItsPlace() {
    world.with(3).store("r1", 50, prompt(1000));
    int[] first = prompt(1000).sequences().get(0);
    PromptResult.Tokens both =
        new PromptResult.Tokens(
            List.of(first, new int[] {1, 2, 3}), PromptKeys.NONE, true, false, null);
    Assignment assignment = world.assign(both);
    assertThat(assignment.replica().name()).isEqualTo("r1");
    assertThat(assignment.choice().prediction().basis()).isEqualTo(Basis.NOT_COMPARABLE);
    assertThat(world.report("r1").state().load().contextTokens()).isEqualTo(1003);
  }

  @Test
  void withoutThePromptLoadDecidesAndTheCauseIsCounted() {
    world.with(2).store("r0", 50, prompt(1000));
    PromptResult inexact = new PromptResult.Inexact(FallbackCause.MULTIMODAL, "an image");
    Set<String> names =
        Set.of(
            world.assign(inexact).replica().name(),
            world.assign(request("m", null)).replica().name());
    assertThat(names).containsExactlyInAnyOrder("r0", "r1");
    assertThat(world.fallbacks())
        .as("that of no prompt at all is no loss")
        .isEqualTo(Map.of("multimodal", 1.0));
  }

  @Test
  void withoutReplicasThereIsNobody() {
    assertThat(world.dispatcher.assign(request(prompt(10)), Set.of()))
        .isEqualTo(new NoCandidate(Cause.NO_REPLICA));
    assertThat(world.counted(Metric.UNASSIGNED_TOTAL, "no_replica")).isEqualTo(1);
  }

  @Test
  void theCauseIsThatOfWhoCameNearest() {
    world.with(3);
    assertThat(causeFor("other", Set.of())).isEqualTo(Cause.UNKNOWN_MODEL);
    world.fleet.find("r0").orElseThrow().draining(true);
    world.replica("r1").health(Replica.Health.DOWN);
    assertThat(causeFor("m", Set.of("r2"))).isEqualTo(Cause.EXCLUDED);
    world.replica("r2").health(Replica.Health.DOWN);
    assertThat(causeFor("m", Set.of("r1", "r2"))).as("both tried").isEqualTo(Cause.DOWN);
    world.fleet.find("r1").orElseThrow().draining(true);
    world.fleet.find("r2").orElseThrow().draining(true);
    assertThat(causeFor("m", Set.of())).isEqualTo(Cause.DRAINING);
  }

  @Test
  void scoresAreKeptOfAFewEnginesAndOnlyIfWanted() {
    world.with(20);
    PromptResult.Tokens prompt = prompt(100);
    world.store("r17", 6, prompt);
    assertThat(world.assign(prompt).choice().scored()).isEmpty();
    world.dispatcher.keepScores(true);
    Assignment kept = world.assign(prompt);
    List<Explanation.Row> scored = kept.choice().scored();
    assertThat(scored).hasSize(8).extracting(Explanation.Row::engine).doesNotHaveDuplicates();
    assertThat(scored.get(0).engine()).isEqualTo(kept.engine());
    assertThat(scored).extracting(Explanation.Row::engine).contains("r17");
  }

  @Test
  void whenNoneIsWellTheLeastIllIsTaken() {
    world.with(3);
    world.replica("r0").health(Replica.Health.DOWN);
    world.replica("r0").checked(Replica.Check.FAILED, "connection refused");
    world.replica("r1").health(Replica.Health.DOWN);
    world.replica("r1").checked(Replica.Check.UNANSWERED, "no answer");
    world.replica("r2").asleep(true);
    world.fleet.add(new Replica("new", URI.create("http://new"), Set.of("m"), 1));
    world.fleet.add(new Replica("unnamed", URI.create("http://unnamed"), Set.of(), 1));
    assertThat(taken(Set.of())).isEqualTo("r1");
    assertThat(taken(Set.of("r1"))).isEqualTo("r0");
    assertThat(taken(Set.of("r0", "r1"))).isEqualTo("r2");
    assertThat(causeFor("m", Set.of("r0", "r1", "r2"))).isEqualTo(Cause.ASLEEP);
    assertThat(world.fleet.modelsWithoutReplica()).containsExactly("m");
    world.replica("r2").asleep(false);
    assertThat(taken(Set.of())).isEqualTo("r2");
    assertThat(causeFor("m", Set.of("r2"))).isEqualTo(Cause.EXCLUDED);
    assertThat(world.fleet.modelsWithoutReplica()).isEmpty();
  }

  private String taken(Set<String> excluded) {
    return ((Assignment) world.dispatcher.assign(request(prompt(10)), excluded)).engine();
  }

  private Cause causeFor(String model, Set<String> excluded) {
    return ((NoCandidate) world.dispatcher.assign(request(model, prompt(10)), excluded)).cause();
  }

  @Test
  void aReplicaThatIsFullGetsNothing() {
    World tight = new World("least-requests", 2).with(2);
    for (int i = 0; i < 4; i++) {
      tight.assign(prompt(10));
    }
    assertThat(tight.report("r0").state().load().requestsInFlight()).isEqualTo(2);
    assertThat(tight.dispatcher.assign(request(prompt(10)), Set.of()))
        .isEqualTo(new NoCandidate(Cause.FULL));
    Explanation explanation = tight.dispatcher.explain(request(prompt(10)));
    assertThat(explanation.winner()).isNull();
    assertThat(explanation.passedOver()).containsEntry("r1", Cause.FULL);
    tight.add("r2");
    assertThat(tight.assign(prompt(10)).engine()).isEqualTo("r2");
  }

  @Test
  void whatAListenerThrowsLeavesNothingReserved() {
    World failing = new World("warm").with(1);
    failing.broken = true;
    assertThatThrownBy(() -> failing.assign(prompt(100))).hasMessage("broken");
    assertThat(failing.report("r0").state().load()).isEqualTo(Load.NONE);
    assertThat(failing.report("r0").state().expectedBlocks().expected()).isZero();
  }

  @Test
  void aRetryGoesElsewhereEvenIfThatIsColder() {
    world.with(2).store("r0", 50, prompt(1000));
    Assignment first = world.assign(prompt(1000));
    assertThat(first.replica().name()).isEqualTo("r0");
    first.finished(Outcome.FAILED);
    Assignment second = (Assignment) world.dispatcher.assign(request(prompt(1000)), Set.of("r0"));
    assertThat(second.replica().name()).isEqualTo("r1");
  }

  @Test
  void aReplicaThatIsRemovedGetsNothingAndIsGivenBackTo() {
    world.with(2).store("r0", 50, prompt(1000));
    Assignment running = world.assign(prompt(1000));
    world.fleet.change(List.of(world.fleet.find("r0").orElseThrow()), List.of());
    assertThat(world.assign(prompt(1000)).replica().name()).isEqualTo("r1");
    running.firstToken();
    running.finished(Outcome.COMPLETED);
    Replica again = world.add("r0");
    assertThat(again).isNotSameAs(running.replica());
    assertThat(world.report("r0").state().load().requestsInFlight()).isZero();
    assertThat(world.report("r0").state().expectedBlocks().expected()).isZero();
  }

  @Test
  void anAdapterIsServedWhereItIsLoaded() {
    world.with(3);
    world.replica("r1").models(Set.of("m", "adapter"));
    PreparedRequest request = request("adapter", prompt(100));
    for (int i = 0; i < 4; i++) {
      assertThat(world.assign(request).replica().name()).isEqualTo("r1");
    }
  }

  @Test
  void eachRankIsAnEngineOfItsOwn() {
    Replica replica = new Replica("dp", URI.create("http://dp"), Set.of("m"), 4);
    replica.health(Replica.Health.UP);
    world.fleet.add(replica);
    List<Assignment> all = List.of(assignDp(1), assignDp(2), assignDp(3), assignDp(4));
    assertThat(all).extracting(Assignment::dpRank).containsExactlyInAnyOrder(0, 1, 2, 3);
    assertThat(all).extracting(Assignment::engine).contains("dp/0", "dp/3");
  }

  private Assignment assignDp(int own) {
    return world.assign(prompt(0, 500, 0, own));
  }

  @Test
  void roundRobinRotatesThroughEachModelsReplicas() {
    World two = new World("round-robin").with(2);
    two.add("x0").models(Set.of("n"));
    two.add("x1").models(Set.of("n"));
    StringBuilder order = new StringBuilder();
    for (int i = 0; i < 8; i++) {
      String model = i % 2 == 0 ? "m" : "n";
      order.append(two.assign(request(model, null)).replica().name().charAt(1));
    }
    // Each model's turns alternate, whoever begins.
    assertThat(order.charAt(0)).isNotEqualTo(order.charAt(2)).isEqualTo(order.charAt(4));
    assertThat(order.charAt(1)).isNotEqualTo(order.charAt(3)).isEqualTo(order.charAt(5));
  }

  @Test
  void enginesWithOtherBlockSizesAreAskedInTheirOwnSpace() {
    world.with(2).store("r0", 50, prompt(1000));
    Replica other = world.replica("r1");
    world.views.put(
        other,
        new dev.warmpath.eventingest.EngineView(
            world.views.get(other).slot(),
            new dev.warmpath.kvindex.block.ChainSpace("m", 32, 0),
            Trust.EXACT));
    Explanation explanation = world.dispatcher.explain(request(prompt(1000)));
    assertThat(explanation.engines())
        .extracting(Explanation.Row::matchedTokens)
        .containsExactly(800, 0);
  }
}
