package dev.warmpath.router.dispatch;

import static dev.warmpath.router.dispatch.World.prompt;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.router.dispatch.Contender.SlowTier;
import dev.warmpath.router.fleet.KvTransfer;
import dev.warmpath.router.fleet.Outcome;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.routing.LoadBack;
import dev.warmpath.tokenizer.PromptResult;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What becomes of that part of a prompt which only an engine's slower memory holds. */
class LoadBackTest {

  private static final int TOKENS = 1_600;

  private final World world = new World("warm");
  private final PromptResult.Tokens prompt = prompt(TOKENS, 16, 1, 0);

  private void add(String name, boolean capsLoads) {
    world
        .add(name)
        .transfer(
            new KvTransfer(
                KvTransfer.Role.BOTH, KvTransfer.Connector.NONE, "", "", 0, 0, capsLoads));
  }

  private void hold(String name, StorageTier tier) {
    world.store(name, TOKENS / 16, prompt, tier);
  }

  private Assignment assign() {
    return world.assign(World.request(prompt).capping());
  }

  private static SlowTier slowTier(Assignment assignment) {
    return assignment.choice().slowTier();
  }

  private static int predicted(Assignment assignment) {
    return assignment.choice().prediction().cachedTokens();
  }

  /** Requests that come alone, and whose first token comes after so long. */
  private void observe(int requests, long millis) {
    for (int i = 0; i < requests; i++) {
      Assignment one = world.assign(World.request(prompt(TOKENS, 16, 1, 1 + i)).capping());
      world.pass(millis);
      one.firstToken();
      one.finished(Outcome.CANCELLED);
      world.pass(60_000);
    }
  }

  @Test
  void itIsReadBackIfThatCostsLess() {
    add("r0", true);
    hold("r0", StorageTier.CPU);
    Assignment assignment = assign();
    assertThat(slowTier(assignment)).isEqualTo(SlowTier.LOADED);
    assertThat(predicted(assignment)).isEqualTo(TOKENS);
    assertThat(assignment.capsLoads()).isFalse();
    assertThat(world.counted(Metric.SLOW_TIER_TOKENS_TOTAL, "r0", "loaded")).isEqualTo(TOKENS);
  }

  @Test
  void itIsComputedAgainWhereLoadsWereSeenToTakeLonger() {
    add("r0", true);
    hold("r0", StorageTier.CPU);
    world.dispatcher.loadBack(LoadBack.ALWAYS);
    observe(100, 5_000);
    world.dispatcher.loadBack(LoadBack.CHEAPEST);
    Assignment assignment = assign();
    assertThat(slowTier(assignment)).isEqualTo(SlowTier.COMPUTED);
    assertThat(predicted(assignment)).isZero();
    assertThat(assignment.capsLoads()).isTrue();
    assertThat(world.report("r0").state().load().queuedPrefillTokens()).isEqualTo(TOKENS + 16);
    assertThat(world.counted(Metric.SLOW_TIER_TOKENS_TOTAL, "r0", "computed")).isEqualTo(TOKENS);
  }

  @Test
  void fewSlowLoadsAreEnoughAndAreForgottenInTime() {
    add("r0", true);
    hold("r0", StorageTier.CPU);
    world.dispatcher.loadBack(LoadBack.ALWAYS);
    observe(4, 5_000);
    world.dispatcher.loadBack(LoadBack.CHEAPEST);
    Assignment told = assign();
    assertThat(slowTier(told)).isEqualTo(SlowTier.COMPUTED);
    told.finished(Outcome.CANCELLED);
    world.pass(40 * 60_000);
    Assignment tried = assign();
    assertThat(slowTier(tried)).isEqualTo(SlowTier.LOADED);
    assertThat(slowTier(world.assign(World.request(prompt(TOKENS, 16, 1, 99)).capping())))
        .as("one is enough")
        .isEqualTo(SlowTier.COMPUTED);
    world.pass(20);
    tried.firstToken();
    world.pass(1);
    assertThat(slowTier(world.assign(World.request(prompt(TOKENS, 16, 1, 100)).capping())))
        .as("it was fast")
        .isEqualTo(SlowTier.LOADED);
  }

  @Test
  void oneThatGotItFromAnotherHasNotIgnoredTheCap() {
    add("r0", true);
    hold("r0", StorageTier.CPU);
    world.dispatcher.loadBack(LoadBack.NEVER);
    Assignment first = assign();
    for (int i = 0; i < 4; i++) {
      Assignment told = world.assign(World.request(prompt(TOKENS, 16, 1, 1 + i)).capping());
      assertThat(told.capsLoads()).isTrue();
      told.usage(TOKENS + 16, TOKENS);
      told.finished(Outcome.CANCELLED);
    }
    first.finished(Outcome.CANCELLED);
    assertThat(assign().capsLoads()).isTrue();
  }

  @Test
  void loadsBehindALongerBacklogTeachNothing() {
    add("r0", true);
    hold("r0", StorageTier.CPU);
    world.dispatcher.loadBack(LoadBack.ALWAYS);
    double before = loadBackMillis("r0");
    for (int round = 0; round < 20; round++) {
      Assignment busy = world.assign(World.request(prompt(0, 8_000, 2, 1_000 + round)));
      Assignment one = world.assign(World.request(prompt(TOKENS, 16, 1, 1 + round)).capping());
      world.pass(700);
      busy.firstToken();
      one.firstToken();
      busy.finished(Outcome.CANCELLED);
      one.finished(Outcome.CANCELLED);
      world.pass(1_000);
    }
    assertThat(loadBackMillis("r0")).isBetween(before / 1.01, before * 1.01);
  }

  @Test
  void aRequestThatCouldNotBeToldIsNotJudged() {
    add("r0", true);
    hold("r0", StorageTier.CPU);
    world.dispatcher.loadBack(LoadBack.NEVER);
    for (int i = 0; i < 5; i++) {
      Assignment told = assign();
      told.untold();
      told.usage(TOKENS + 16, TOKENS);
      told.finished(Outcome.CANCELLED);
    }
    assertThat(assign().capsLoads()).isTrue();
    assertThat(world.counted(Metric.PREDICTIONS_TOTAL, "r0", "under")).isZero();
  }

  @Test
  void eachEngineAndTierHasItsOwnCost() {
    add("r0", true);
    hold("r0", StorageTier.DISK);
    world.dispatcher.loadBack(LoadBack.ALWAYS);
    observe(100, 1_000);
    add("r1", true);
    hold("r1", StorageTier.DISK);
    assertThat(loadBackMillis("r0")).isGreaterThan(500);
    assertThat(loadBackMillis("r1")).isLessThan(20);
    hold("r0", StorageTier.CPU); // both tiers, of which the faster one is read
    assertThat(loadBackMillis("r0")).isLessThan(20);
  }

  private double loadBackMillis(String engine) {
    return world.dispatcher.explain(World.request(prompt)).engines().stream()
        .filter(row -> row.engine().equals(engine))
        .flatMap(row -> row.score().terms().stream())
        .filter(term -> term.name().equals("load_back_millis"))
        .findFirst()
        .orElseThrow()
        .value();
  }

  @Test
  void whatWaitsForItsLoadTeachesNothingOfPrefills() {
    add("r0", true);
    hold("r0", StorageTier.CPU);
    world.dispatcher.loadBack(LoadBack.ALWAYS);
    observe(20, 500);
    assertThat(world.report("r0").state().prefillSamples()).isZero();
  }

  @Test
  void loadsThatStandInAQueueAreNotWaitedForForEver() {
    add("r0", true);
    hold("r0", StorageTier.CPU);
    List<SlowTier> decided = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      // prompts that share the part on the host: each is read back for itself
      PromptResult.Tokens one = prompt(TOKENS, 16, 1, i);
      decided.add(slowTier(world.assign(World.request(one).capping())));
    }
    assertThat(decided.get(0)).isEqualTo(SlowTier.LOADED);
    assertThat(decided).contains(SlowTier.COMPUTED);
    assertThat(decided.subList(decided.indexOf(SlowTier.COMPUTED), 60)).contains(SlowTier.LOADED);
  }

  @Test
  void theCostIsLearnedFromAQueueAsFromLoadsThatComeAlone() {
    add("r0", true);
    hold("r0", StorageTier.CPU);
    world.dispatcher.loadBack(LoadBack.ALWAYS);
    for (int round = 0; round < 30; round++) {
      List<Assignment> all = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        all.add(world.assign(World.request(prompt(TOKENS, 16, 1, 10 * round + i)).capping()));
      }
      for (Assignment each : all) {
        world.pass(40); // one after another, each 40 ms behind the one before it
        each.firstToken();
        each.finished(Outcome.CANCELLED);
      }
      world.pass(60_000);
    }
    assertThat(loadBackMillis("r0")).isBetween(20.0, 45.0);
  }

  @Test
  void anEngineThatCannotBeToldReadsBack() {
    add("r0", false);
    hold("r0", StorageTier.CPU);
    world.dispatcher.loadBack(LoadBack.NEVER);
    assertThat(slowTier(assign())).isEqualTo(SlowTier.LOADED);
  }

  @Test
  void aRequestThatCannotTellIsReadBack() {
    add("r0", true);
    hold("r0", StorageTier.CPU);
    world.dispatcher.loadBack(LoadBack.NEVER);
    Assignment cannot = world.assign(prompt);
    assertThat(slowTier(cannot)).isEqualTo(SlowTier.LOADED);
    cannot.finished(Outcome.CANCELLED);
    assertThat(world.dispatcher.readsBack()).isTrue();
    assertThat(slowTier(assign())).isEqualTo(SlowTier.COMPUTED);
  }

  @Test
  void anEngineThatReadsBackAllTheSameIsNotToldForAWhile() {
    add("r0", true);
    hold("r0", StorageTier.CPU);
    world.dispatcher.loadBack(LoadBack.NEVER);
    for (int i = 0; i < 3; i++) {
      Assignment told = assign();
      assertThat(told.capsLoads()).isTrue();
      told.usage(TOKENS + 16, TOKENS);
      told.finished(Outcome.CANCELLED);
    }
    Assignment after = assign();
    assertThat(slowTier(after)).isEqualTo(SlowTier.LOADED);
    assertThat(predicted(after)).isEqualTo(TOKENS);
    after.finished(Outcome.CANCELLED);
    world.pass(601_000);
    assertThat(slowTier(assign())).isEqualTo(SlowTier.COMPUTED);
  }

  @Test
  void whatIsOnItsWayToTheGpuIsNoMatterOfSlowerMemory() {
    add("r0", true);
    hold("r0", StorageTier.CPU);
    world.dispatcher.loadBack(LoadBack.NEVER);
    PromptResult.Tokens longer = prompt(TOKENS + 320, 0, 1, 0);
    Assignment first = world.assign(World.request(longer).capping());
    assertThat(slowTier(first)).isEqualTo(SlowTier.COMPUTED);
    assertThat(slowTier(world.assign(World.request(longer).capping()))).isEqualTo(SlowTier.NOTHING);
  }

  @Test
  void aLoadedPartCostsTheEngineItsPlace() {
    add("r0", true);
    hold("r0", StorageTier.CPU);
    world.dispatcher.loadBack(LoadBack.ALWAYS);
    observe(100, 5_000);
    add("r1", true);
    assertThat(assign().engine()).isEqualTo("r1");
  }
}
