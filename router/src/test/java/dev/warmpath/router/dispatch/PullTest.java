package dev.warmpath.router.dispatch;

import static dev.warmpath.router.dispatch.World.prompt;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.Trust;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.router.dispatch.Contender.SlowTier;
import dev.warmpath.router.fleet.KvTransfer;
import dev.warmpath.router.fleet.KvTransfer.Connector;
import dev.warmpath.router.fleet.KvTransfer.Role;
import dev.warmpath.router.fleet.Outcome;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.routing.LoadBack;
import dev.warmpath.router.routing.SplitRules;
import dev.warmpath.tokenizer.PromptResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** When an engine gets from another one's memory what it does not hold itself. */
class PullTest {

  private static final int TOKENS = 8_000;
  private static final int FULL = 5;

  private final World world = new World("least-requests", FULL);
  private final List<Assignment> occupying = new ArrayList<>();
  private final PromptResult.Tokens prompt = prompt(TOKENS, 16, 1, 0);

  PullTest() {
    world.dispatcher.pulls(true);
    world.dispatcher.splitRule(SplitRules.NEVER);
  }

  private void add(String name, Connector connector, String group) {
    world.add(name).transfer(new KvTransfer(Role.BOTH, connector, group, name, 5710, 0, true));
  }

  /** An owner of the prompt, which is busy, and one that is not. */
  private void addOwnerAndIdle() {
    add("r0", Connector.OFFLOADING, "");
    add("r1", Connector.OFFLOADING, "");
    for (int family = 1; family <= 6; family++) {
      world.store("r0", TOKENS / 16, prompt(TOKENS, 16, family, 0), StorageTier.GPU);
      world.store("r0", TOKENS / 16, prompt(TOKENS, 16, family, 0), StorageTier.CPU);
    }
    occupy("r0");
  }

  /** So that no other request gets there. */
  private void occupy(String name) {
    occupy(name, FULL);
  }

  private void occupy(String name, int requests) {
    for (int i = 0; i < requests; i++) {
      occupying.add(world.assign(World.request(prompt(0, 16, 9, 900 + i)).only(Set.of(name))));
    }
  }

  private void release() {
    occupying.forEach(each -> each.finished(Outcome.CANCELLED));
    occupying.clear();
  }

  private Assignment assign() {
    return assign(1);
  }

  private Assignment assign(int family) {
    return world.assign(World.request(prompt(TOKENS, 16, family, 0)).capping());
  }

  private static SlowTier slowTier(Assignment assignment) {
    return assignment.choice().slowTier();
  }

  /** A request that comes alone, and reports so many cached tokens. */
  private Assignment answered(int cachedTokens) {
    Assignment one = assign();
    one.usage(TOKENS + 16, cachedTokens);
    one.finished(Outcome.CANCELLED);
    return one;
  }

  @Test
  void anIdleEngineGetsWhatTheBusyOwnerHolds() {
    addOwnerAndIdle();
    Assignment assignment = assign();
    assertThat(assignment.engine()).isEqualTo("r1");
    assertThat(slowTier(assignment)).isEqualTo(SlowTier.PULLED);
    assertThat(Objects.requireNonNull(assignment.source()).name()).isEqualTo("r0");
    assertThat(assignment.choice().pulled()).isEqualTo(new Choice.Pulled("r0", TOKENS));
    assertThat(assignment.choice().prediction().cachedTokens()).isEqualTo(TOKENS);
    assertThat(assignment.capsLoads()).isFalse();
    assertThat(assignment.uncachedTokens()).isEqualTo(16);
    assertThat(world.counted(Metric.SLOW_TIER_TOKENS_TOTAL, "r1", "pulled")).isEqualTo(TOKENS);
    assignment.usage(TOKENS + 16, TOKENS);
    assertThat(world.counted(Metric.PREDICTIONS_TOTAL, "r1", "exact")).isEqualTo(1);
    assertThat(world.counted(Metric.SLOW_TIER_TOKENS_TOTAL, "r1", "missed")).isZero();
    assertThat(world.reuses).as("says nothing of its own memory").isEmpty();
  }

  @Test
  void whatOnlyTheGpuHoldsCannotBeHad() {
    add("r0", Connector.OFFLOADING, "");
    add("r1", Connector.OFFLOADING, "");
    world.store("r0", TOKENS / 16, prompt, StorageTier.GPU);
    world.store("r0", 10, prompt, StorageTier.CPU);
    occupy("r0");
    assertThat(assign().choice().pulled()).isEqualTo(new Choice.Pulled("r0", 160));
  }

  @Test
  void itsOwnSlowMemoryIsReadOnTheWay() {
    addOwnerAndIdle();
    world.store("r1", 20, prompt, StorageTier.GPU);
    world.store("r1", 100, prompt, StorageTier.CPU);
    Assignment assignment = assign();
    assertThat(assignment.choice().pulled()).isEqualTo(new Choice.Pulled("r0", TOKENS - 1_600));
    assertThat(assignment.choice().prediction().cachedTokens()).isEqualTo(TOKENS);
    assertThat(world.counted(Metric.SLOW_TIER_TOKENS_TOTAL, "r1", "loaded")).isEqualTo(1_280);
    assertThat(world.counted(Metric.SLOW_TIER_TOKENS_TOTAL, "r1", "pulled"))
        .isEqualTo(TOKENS - 1_600);
  }

  @Test
  void onlyIfItIsAllowed() {
    addOwnerAndIdle();
    world.dispatcher.pulls(false);
    assertThat(assign(1).source()).isNull();
    world.dispatcher.pulls(true);
    world.dispatcher.loadBack(LoadBack.NEVER);
    assertThat(assign(2).source()).isNull();
    world.dispatcher.loadBack(LoadBack.ALWAYS);
    assertThat(assign(3).source()).isNotNull();
  }

  @Test
  void whatIsOnItsWayIsNotPulledAgain() {
    addOwnerAndIdle();
    assertThat(answered(TOKENS).source()).isNotNull();
    assertThat(assign().source()).isNotNull();
    assertThat(assign().source()).isNull();
  }

  @Test
  void aSlowLinkIsNotUsedAgain() {
    addOwnerAndIdle();
    for (int family = 1; family <= 5; family++) {
      Assignment one = assign(family);
      world.pass(60_000);
      one.firstToken();
      one.usage(TOKENS + 16, TOKENS);
      one.finished(Outcome.CANCELLED);
    }
    assertThat(assign(6).source()).isNull();
  }

  /** The first tokens of what was computed before came long before its own. */
  @Test
  void aSlowLinkThatWasToHideIsNotUsedAgain() {
    addOwnerAndIdle();
    for (int family = 1; family <= 5; family++) {
      Assignment before = world.assign(World.request(prompt(0, TOKENS, 9, 10 * family)));
      Assignment one = assign(family);
      assertThat(before.engine()).isEqualTo("r1");
      world.pass(2_000);
      before.firstToken();
      before.finished(Outcome.CANCELLED);
      world.pass(58_000);
      one.firstToken();
      one.usage(TOKENS + 16, TOKENS);
      one.finished(Outcome.CANCELLED);
    }
    assertThat(assign(6).source()).isNull();
  }

  @Test
  void theBetterLinkCountsMoreThanAFewTokens() {
    addOwnerAndIdle();
    add("r2", Connector.OFFLOADING, "");
    world.store("r2", TOKENS / 16 - 10, prompt(TOKENS, 16, 6, 0), StorageTier.CPU);
    occupy("r2");
    for (int family = 1; family <= 5; family++) {
      Assignment one = assign(family);
      world.pass(400);
      one.firstToken();
      one.usage(TOKENS + 16, TOKENS);
      one.finished(Outcome.CANCELLED);
    }
    assertThat(assign(6).choice().pulled()).isEqualTo(new Choice.Pulled("r2", TOKENS - 160));
  }

  @Test
  void untilOneCameThereIsOneAtATime() {
    addOwnerAndIdle();
    Assignment first = assign();
    assertThat(first.source()).isNotNull();
    assertThat(assign(2).source()).isNull();
    first.usage(TOKENS + 16, TOKENS);
    assertThat(assign(3).source()).isNotNull();
  }

  @Test
  void nobodyQueuesUpAtAnOwnerWhoseLastOneIsOverdue() {
    addOwnerAndIdle();
    assertThat(answered(TOKENS).source()).isNotNull();
    assertThat(assign(2).source()).isNotNull();
    add("r2", Connector.OFFLOADING, "");
    occupy("r1", FULL - 1);
    Assignment soon = assign(3);
    assertThat(soon.engine()).isEqualTo("r2");
    assertThat(soon.source()).as("the one before it is over in a moment").isNotNull();
    soon.finished(Outcome.CANCELLED);
    world.pass(30_000);
    Assignment later = assign(4);
    assertThat(later.engine()).isEqualTo("r2");
    assertThat(later.source()).isNull();
  }

  /** The first byte of its answer comes after the last token, long after the pull. */
  @Test
  void whatShowsNoEndIsOverAfterItsEstimate() {
    addOwnerAndIdle();
    assertThat(answered(TOKENS).source()).isNotNull();
    Assignment whole =
        world.assign(World.request("m", prompt(TOKENS, 16, 2, 0), false, 0).capping());
    assertThat(whole.source()).isNotNull();
    world.pass(30_000);
    assertThat(assign(3).source()).isNotNull();
  }

  @Test
  void whereNothingComesItIsNotAskedForTenMinutes() {
    addOwnerAndIdle();
    for (int i = 0; i < 3; i++) {
      assertThat(answered(0).source()).isNotNull();
    }
    assertThat(world.counted(Metric.SLOW_TIER_TOKENS_TOTAL, "r1", "missed"))
        .isEqualTo(3.0 * TOKENS);
    assertThat(world.reuses).isEmpty();
    assertThat(answered(0).source()).isNull();
    world.pass(10 * 60_000 + 1);
    assertThat(answered(TOKENS).source()).isNotNull();
  }

  @Test
  void oneThatHasLostAPartMeanwhileIsAskedAgain() {
    addOwnerAndIdle();
    for (int i = 0; i < 5; i++) {
      assertThat(answered(800).source()).isNotNull();
    }
    assertThat(world.counted(Metric.SLOW_TIER_TOKENS_TOTAL, "r1", "missed"))
        .isEqualTo(5.0 * (TOKENS - 800));
    assertThat(world.counted(Metric.PREDICTIONS_TOTAL, "r1", "over")).isEqualTo(5);
  }

  @Test
  void aLinkThatWorksOneWayOnlyIsGivenUpAllTheSame() {
    add("r0", Connector.OFFLOADING, "");
    add("r1", Connector.OFFLOADING, "");
    for (int family = 1; family <= 8; family++) {
      String owner = family % 2 == 0 ? "r0" : "r1";
      world.store(owner, TOKENS / 16, prompt(TOKENS, 16, family, 0), StorageTier.CPU);
    }
    for (int family = 1; family <= 6; family++) {
      String other = family % 2 == 0 ? "r1" : "r0";
      assertThat(pulled(other, family, other.equals("r0") ? TOKENS : 0)).isTrue();
    }
    assertThat(pulled("r0", 7, TOKENS)).isTrue();
    assertThat(pulled("r1", 8, 0)).isFalse();
  }

  /** Whether this engine pulls for a request that comes alone, and reports so much then. */
  private boolean pulled(String engine, int family, int cachedTokens) {
    occupy(engine.equals("r0") ? "r1" : "r0");
    Assignment one = assign(family);
    assertThat(one.engine()).isEqualTo(engine);
    one.usage(TOKENS + 16, cachedTokens);
    one.finished(Outcome.CANCELLED);
    release();
    return one.source() != null;
  }

  @Test
  void anotherConnectorOrGroupIsNotReached() {
    add("r0", Connector.OFFLOADING, "");
    add("r1", Connector.OFFLOADING, "elsewhere");
    world.store("r0", TOKENS / 16, prompt, StorageTier.CPU);
    occupy("r0");
    assertThat(assign().source()).isNull();
    add("r2", Connector.NIXL, "");
    Assignment assignment = world.assign(World.request(prompt).capping());
    assertThat(assignment.engine()).isEqualTo("r2");
    assertThat(assignment.source()).isNull();
  }

  @Test
  void anIndexThatIsDoubtedHandsNothingOut() {
    addOwnerAndIdle();
    world.trust("r0", Trust.SUSPECT);
    assertThat(assign().source()).isNull();
  }

  @Test
  void theExplanationNamesIt() {
    addOwnerAndIdle();
    Explanation explanation = world.dispatcher.explain(World.request(prompt).capping());
    assertThat(explanation.engines())
        .singleElement()
        .satisfies(row -> {
          assertThat(row.pullsFrom()).isEqualTo("r0");
          assertThat(row.prediction().cachedTokens()).isEqualTo(TOKENS);
        });
  }
}
