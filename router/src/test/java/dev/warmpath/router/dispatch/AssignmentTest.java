package dev.warmpath.router.dispatch;

import static dev.warmpath.router.dispatch.World.prompt;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.data.Percentage.withPercentage;

import dev.warmpath.eventingest.ReportedReuse;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.router.fleet.Outcome;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.routing.Load;
import dev.warmpath.router.routing.PrefillCost;
import dev.warmpath.tokenizer.PromptResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What an assignment reserves and gives back, once. */
class AssignmentTest {

  private final World world = new World("warm").with(1);

  @Test
  void reservesLoadUntilFirstByteAndEnd() {
    world.store("r0", 50, prompt(1000));
    Assignment assignment = world.assign(prompt(1000));
    double millis = PrefillCost.DEFAULT.millis(200, 1000);
    assertThat(load()).isEqualTo(new Load(1, 1, 200, Math.round(1000 * millis) / 1000.0, 1000));
    assignment.firstToken();
    assertThat(load()).isEqualTo(new Load(1, 0, 0, 0, 1000));
    assignment.finished(Outcome.COMPLETED);
    assertThat(load()).isEqualTo(Load.NONE);
  }

  @ParameterizedTest
  @EnumSource(Outcome.class)
  void givesBackOnceHoweverItEndsAndHoweverOften(Outcome outcome) {
    Assignment other = world.assign(prompt(500));
    Load before = load();
    Assignment assignment = world.assign(prompt(1000));
    assignment.finished(outcome);
    assignment.finished(Outcome.FAILED);
    assignment.firstToken();
    assignment.usage(1000, 16);
    assignment.finished(outcome);
    assertThat(load()).isEqualTo(before);
    assertThat(world.heard)
        .filteredOn(line -> line.startsWith("finished"))
        .containsExactly("finished r0 " + outcome);
    assertThat(world.counted(Metric.OUTCOMES_TOTAL, "r0", outcome.name().toLowerCase(Locale.ROOT)))
        .isEqualTo(1);
    assertThat(Metric.PREDICTIONS_TOTAL.in(world.metrics.registry()).counters()).isEmpty();
    other.firstToken();
    other.firstToken();
    other.finished(outcome);
    assertThat(load()).isEqualTo(Load.NONE);
  }

  @ParameterizedTest
  @EnumSource(
      value = Outcome.class,
      names = {"FAILED", "REFUSED", "CANCELLED"})
  void whatWasNeverComputedIsExpectedNoMore(Outcome outcome) {
    Assignment assignment = world.assign(prompt(1000));
    assertThat(expected()).isEqualTo(62);
    assignment.finished(outcome);
    assertThat(expected()).isZero();
  }

  @ParameterizedTest
  @EnumSource(
      value = Outcome.class,
      names = {"COMPLETED", "CANCELLED"})
  void whatWasComputedIsExpectedUntilItsEventsMustHaveCome(Outcome outcome) {
    Assignment assignment = world.assign(prompt(1000));
    assignment.firstToken();
    assignment.finished(outcome);
    world.pass(1_999);
    assertThat(expected()).isEqualTo(62);
    world.pass(1);
    assertThat(expected()).isZero();
  }

  @Test
  void predictionIsComparedOnceWithWhatTheEngineSays() {
    world.store("r0", 50, prompt(1000));
    Assignment assignment = world.assign(prompt(1000));
    assignment.usage(1000, 784);
    assignment.usage(1000, 0);
    assignment.finished(Outcome.COMPLETED);
    assertThat(world.heard).containsExactly("assigned warm cache r0", "finished r0 COMPLETED");
    assertThat(world.counted(Metric.PREDICTIONS_TOTAL, "r0", "over")).isEqualTo(1);
    assertThat(world.counted(Metric.PREDICTED_TOKENS_TOTAL, "r0", "hit")).isEqualTo(784);
    assertThat(world.counted(Metric.PREDICTED_TOKENS_TOTAL, "r0", "over")).isEqualTo(16);
  }

  @Test
  void aPromptThatTheEngineCountsOtherwiseIsReported() {
    world.assign(prompt(1000)).usage(1001, 0);
    assertThat(world.heard).contains("miscounted 1000 1001");
    assertThat(world.counted(Metric.PROMPT_MISCOUNTS_TOTAL, "r0")).isEqualTo(1);
    assertThat(world.counted(Metric.PREDICTIONS_TOTAL, "r0", "exact")).isEqualTo(1);
  }

  @Test
  void timesToTheFirstByteTeachTheEnginesSpeed() {
    for (int i = 0; i < 50; i++) {
      Assignment assignment = world.assign(prompt(0, 4000, 0, i));
      world.pass(2000);
      assignment.firstToken();
      assignment.usage(4000, 0);
      assignment.finished(Outcome.COMPLETED);
    }
    assertThat(world.report("r0").state().prefillSamples()).isEqualTo(50);
    double millis = world.report("r0").state().prefillCost().millis(4000, 4000);
    assertThat(millis).isBetween(1600.0, 2000.0);
  }

  @Test
  void promptsThatQueueAreSeenTogether() {
    Assignment first = world.assign(prompt(4000));
    Assignment second = world.assign(prompt(0, 4000, 0, 1));
    world.pass(2000);
    first.firstToken();
    first.finished(Outcome.COMPLETED);
    world.pass(2000);
    second.firstToken();
    second.finished(Outcome.COMPLETED);
    assertThat(world.report("r0").state().prefillSamples()).isEqualTo(1);
  }

  @Test
  void promptsOfOneStepDoNotMakeAnEngineLookSlow() {
    for (int i = 0; i < 100; i++) {
      List<Assignment> together = new ArrayList<>();
      for (int j = 0; j < 4; j++) {
        together.add(world.assign(prompt(0, 2000, 0, 4 * i + j)));
      }
      world.pass(15 + (long) (4 * PrefillCost.DEFAULT.millis(2000, 2000)));
      together.forEach(Assignment::firstToken);
      together.forEach(each -> each.finished(Outcome.COMPLETED));
    }
    double millis = world.report("r0").state().prefillCost().millis(2000, 2000);
    assertThat(millis).isCloseTo(PrefillCost.DEFAULT.millis(2000, 2000), withPercentage(5));
  }

  @Test
  void aPromptThatIsGivenUpInBetweenTeachesNothing() {
    Assignment first = world.assign(prompt(4000));
    Assignment second = world.assign(prompt(0, 4000, 0, 1));
    world.pass(2000);
    second.finished(Outcome.CANCELLED);
    first.firstToken();
    assertThat(world.report("r0").state().prefillSamples()).isZero();
  }

  @Test
  void aResponseThatIsNoStreamTeachesNothing() {
    Assignment assignment = world.assign(plain(prompt(4000)));
    world.pass(2000);
    assignment.answered();
    assignment.usage(4000, 0);
    assignment.finished(Outcome.COMPLETED);
    assertThat(world.report("r0").state().prefillSamples()).isZero();
    assertThat(world.report("r0").state().prefillCost()).isEqualTo(PrefillCost.DEFAULT);
  }

  @Test
  void thePromptOfAResponseThatIsNoStreamLeavesTheQueueByItsEstimate() {
    double millis = PrefillCost.DEFAULT.millis(4000, 4000);
    Assignment first = world.assign(plain(prompt(0, 4000, 0, 1)));
    world.assign(plain(prompt(0, 4000, 0, 2)));
    assertThat(load().queuedPrefillMillis()).isCloseTo(2 * millis, within(0.01));
    world.pass((long) millis / 2);
    assertThat(load().queuedPrefillMillis()).isCloseTo(1.5 * millis, within(1.0));
    assertThat(load().queuedPrefillTokens()).isEqualTo(8000);
    world.pass((long) millis);
    assertThat(load().queuedPrefillMillis()).isCloseTo(0.5 * millis, within(1.0));
    assertThat(load().queuedPrefillTokens()).isEqualTo(4000);
    world.pass((long) millis);
    assertThat(load()).isEqualTo(new Load(2, 0, 0, 0, 8000));
    first.finished(Outcome.CANCELLED);
    assertThat(expected()).as("computed by then, so its events come").isPositive();
  }

  @Test
  void aStreamHoldsThoseBehindItUntilItsFirstToken() {
    double millis = PrefillCost.DEFAULT.millis(4000, 4000);
    Assignment first = world.assign(prompt(0, 4000, 0, 1));
    Assignment second = world.assign(prompt(0, 4000, 0, 2));
    world.pass(60_000);
    // It is late by 60 s without its own time: as much is taken to be still to come.
    assertThat(load().queuedPrefillMillis()).isCloseTo(60_000, within(0.01));
    first.firstToken();
    assertThat(load().queuedPrefillMillis()).isCloseTo(millis, within(0.01));
    world.pass((long) millis / 2);
    assertThat(load().queuedPrefillMillis()).isCloseTo(millis / 2, within(1.0));
    second.finished(Outcome.FAILED);
    assertThat(load().queuedPrefillMillis()).isZero();
  }

  @Test
  void aPromptThatIsNotKnownWeighsWhatItMay() {
    PreparedRequest unread = World.request("m", null, true, 3000);
    Assignment assignment = world.assign(unread);
    assertThat(load().queuedPrefillTokens()).isEqualTo(3000);
    assertThat(load().contextTokens()).isEqualTo(3000);
    world.pass(500);
    assignment.firstToken();
    assignment.usage(3100, 0);
    assignment.finished(Outcome.COMPLETED);
    assertThat(load()).isEqualTo(Load.NONE);
    assertThat(world.report("r0").state().prefillSamples()).as("a guess teaches nothing").isZero();
  }

  @Test
  void anEjectedEngineIsProbedByOneRequestAtATime() {
    World world = new World("least-requests").with(2);
    failThrice(world, "r0");
    assertThat(world.assign(prompt(10)).engine()).isEqualTo("r1");
    world.pass(1_000);
    Assignment probe = world.assign(prompt(10));
    assertThat(probe.engine()).as("has less in flight").isEqualTo("r0");
    assertThat(world.assign(prompt(10)).engine()).isEqualTo("r1");
    assertThat(world.assign(prompt(10)).engine()).isEqualTo("r1");
    probe.finished(Outcome.CANCELLED);
    Assignment second = world.assign(prompt(10));
    assertThat(second.engine()).as("the first probe showed nothing").isEqualTo("r0");
    second.answered();
    second.finished(Outcome.REFUSED);
    assertThat(world.assign(prompt(10)).engine()).as("even a refusal is an answer").isEqualTo("r0");
    assertThat(world.assign(prompt(10)).engine()).isEqualTo("r0");
  }

  private static void failThrice(World world, String engine) {
    for (int failures = 0; failures < 3; ) {
      Assignment assignment = world.assign(prompt(10));
      boolean fails = assignment.engine().equals(engine);
      failures += fails ? 1 : 0;
      assignment.finished(fails ? Outcome.FAILED : Outcome.COMPLETED);
    }
  }

  private static PreparedRequest plain(PromptResult prompt) {
    return World.request("m", prompt, false, 0);
  }

  private Load load() {
    return world.report("r0").state().load();
  }

  private int expected() {
    return world.report("r0").state().expectedBlocks().expected();
  }

  @Test
  void whatTheEngineReusedIsPassedOnWithThePromptsBlocks() {
    World world = new World("warm").with(1);
    PromptResult.Tokens prompt = World.prompt(64, 40, 1, 1);
    world.store("r0", 3, prompt);
    long dispatchedNanos = world.nanos.get();
    Assignment trusted = world.assign(prompt);
    world.nanos.addAndGet(5_000);
    trusted.usage(104, 32);
    trusted.usage(104, 48);
    world.trust("r0", Trust.SUSPECT);
    world.assign(prompt).usage(104, 48);
    world.assign(prompt).usage(105, 48);

    assertThat(world.reuses).as("once each, and not when tokens are counted otherwise").hasSize(2);
    ReportedReuse first = world.reuses.get(0);
    assertThat(first.prompt().blocks()).isEqualTo(6);
    assertThat(first.cachedTokens()).isEqualTo(32);
    assertThat(first.predictedTokens()).isEqualTo(48);
    assertThat(first.dispatchedNanos()).isEqualTo(dispatchedNanos);
    assertThat(world.reuses.get(1).predictedTokens()).isEqualTo(-1);
  }

  @Test
  void hitTooShortToLoadBackDoesNotCount() {
    World world = new World("warm").with(1);
    PromptResult.Tokens prompt = World.prompt(64, 40, 1, 1);
    world.store("r0", 2, prompt);
    world.store("r0", 3, prompt, StorageTier.CPU);
    assertThat(world.assign(prompt).choice().prediction().cachedTokens()).isEqualTo(48);
    world.loadBack("r0", 17);
    assertThat(world.assign(prompt).choice().prediction().cachedTokens()).isEqualTo(32);
  }
}
