package dev.warmpath.router.fleet.dispatch;

import static dev.warmpath.router.fleet.dispatch.World.prompt;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.Trust;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.router.fleet.EngineFeedback;
import dev.warmpath.router.routing.Load;
import dev.warmpath.router.routing.PrefillCost;
import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.body.ReportParameter;
import dev.warmpath.tokenizer.body.RequestNamespace;
import java.util.Set;
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
    assertThat(load()).isEqualTo(new Load(1, 200, Math.round(1000 * millis) / 1000.0, 1000));
    assignment.firstByte();
    assertThat(load()).isEqualTo(new Load(1, 0, 0, 1000));
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
    assignment.firstByte();
    assignment.usage(1000, 16);
    assignment.finished(outcome);
    assertThat(load()).isEqualTo(before);
    assertThat(world.heard)
        .filteredOn(line -> line.startsWith("finished") || line.startsWith("compared"))
        .containsExactly("finished r0 " + outcome);
    other.firstByte();
    other.firstByte();
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
    assignment.firstByte();
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
    assertThat(world.heard)
        .containsExactly("assigned warm cache r0", "compared 800 784", "finished r0 COMPLETED");
  }

  @Test
  void aPromptThatTheEngineCountsOtherwiseIsReported() {
    world.assign(prompt(1000)).usage(1001, 0);
    assertThat(world.heard).contains("miscounted 1000 1001", "compared 0 0");
  }

  @Test
  void timesToTheFirstByteTeachTheEnginesSpeed() {
    for (int i = 0; i < 50; i++) {
      Assignment assignment = world.assign(prompt(0, 4000, 0, i));
      world.pass(2000);
      assignment.firstByte();
      assignment.usage(4000, 0);
      assignment.finished(Outcome.COMPLETED);
    }
    assertThat(world.report("r0").prefillSamples()).isEqualTo(50);
    double millis = world.report("r0").prefillCost().millis(4000, 4000);
    assertThat(millis).isBetween(1600.0, 2000.0);
  }

  @Test
  void whoHadToQueueTeachesNothing() {
    Assignment first = world.assign(prompt(4000));
    Assignment second = world.assign(prompt(0, 4000, 0, 1));
    world.pass(2000);
    first.firstByte();
    first.finished(Outcome.COMPLETED);
    world.pass(2000);
    second.firstByte();
    second.finished(Outcome.COMPLETED);
    assertThat(world.report("r0").prefillSamples()).isEqualTo(1);
  }

  private Load load() {
    return world.report("r0").load();
  }

  private int expected() {
    return world.report("r0").expectedBlocks().expected();
  }

  @Test
  void whatTheEngineReusedIsPassedOnWithThePromptsBlocks() {
    World world = new World("warm").with(1);
    PromptResult.Tokens prompt = World.prompt(64, 40, 1, 1);
    world.store("r0", 3, prompt);
    Assignment trusted = world.assign(prompt);
    world.nanos.addAndGet(5_000);
    trusted.usage(104, 32);
    trusted.usage(104, 48);
    world.trust("r0", Trust.SUSPECT);
    world.assign(prompt).usage(104, 48);
    world.assign(prompt).usage(105, 48);

    assertThat(world.reuses).as("once each, and not when tokens are counted otherwise").hasSize(2);
    EngineFeedback.Reuse first = world.reuses.get(0);
    assertThat(first.prompt().blocks()).isEqualTo(6);
    assertThat(first.cachedTokens()).isEqualTo(32);
    assertThat(first.predictedTokens()).isEqualTo(48);
    assertThat(first.agoNanos()).isEqualTo(5_000);
    assertThat(world.reuses.get(1).predictedTokens()).isEqualTo(-1);
  }

  @Test
  void requestInHiddenNamespaceIsToldOfFromBeginToEnd() {
    World world = new World("warm").with(1);
    DispatchRequest unread =
        new DispatchRequest(
            "m", null, null, RequestNamespace.EXTRA_KEY, ReportParameter.TAKEN, Set.of());
    Assignment hidden = (Assignment) world.dispatcher.assign(unread);
    assertThat(world.hidden).containsExactly("r0 began");
    hidden.finished(Outcome.COMPLETED);
    hidden.finished(Outcome.COMPLETED);
    world.assign(World.prompt(64, 40, 1, 1)).finished(Outcome.COMPLETED);
    assertThat(world.hidden).containsExactly("r0 began", "r0 ended");
  }

  @Test
  void hitTooShortToLoadBackDoesNotCount() {
    World world = new World("warm").with(1);
    PromptResult.Tokens prompt = World.prompt(64, 40, 1, 1);
    world.store("r0", 2, prompt);
    world.store("r0", 3, prompt, StorageTier.CPU);
    assertThat(world.assign(prompt).predictedCachedTokens()).isEqualTo(48);
    world.loadBack("r0", 17);
    assertThat(world.assign(prompt).predictedCachedTokens()).isEqualTo(32);
  }
}
