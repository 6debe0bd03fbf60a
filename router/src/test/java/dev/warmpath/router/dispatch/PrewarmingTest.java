package dev.warmpath.router.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.Trust;
import dev.warmpath.router.dispatch.Prewarming.Result;
import dev.warmpath.router.dispatch.Prewarming.State;
import dev.warmpath.router.fleet.EngineState;
import dev.warmpath.router.fleet.KvTransfer;
import dev.warmpath.router.fleet.Outcome;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.fleet.SharedPrefix;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.tokenizer.PromptResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class PrewarmingTest {

  private static final int SHARED = 320;

  /** Requests go to r0 alone until a test adds others. */
  private final World world = new World("warm").with(1);

  private final List<Sent> sent = new ArrayList<>();
  private boolean seesNewcomers = true;
  private long computeMillis = 10_000;
  private final Prewarming prewarming =
      new Prewarming(
          world.dispatcher,
          world.index,
          this::send,
          () -> new Prewarming.Limits(seesNewcomers, computeMillis),
          true);

  /** A prefix that an engine was asked to compute. */
  private static final class Sent {
    private final EngineState engine;
    private final SharedPrefix prefix;
    private final Consumer<Result> done;
    private boolean brokenOff;

    private Sent(EngineState engine, SharedPrefix prefix, Consumer<Result> done) {
      this.engine = engine;
      this.prefix = prefix;
      this.done = done;
    }
  }

  private Runnable send(EngineState engine, SharedPrefix prefix, Consumer<Result> done) {
    Sent one = new Sent(engine, prefix, done);
    sent.add(one);
    return () -> one.brokenOff = true;
  }

  PrewarmingTest() {
    world.dispatcher.prefixes().keepTokens(true);
    prewarming.look();
  }

  /** Sessions that share their first tokens with those of their family are served by r0. */
  private void serve(int family, int sessions) {
    world.store("r0", SHARED / 16, World.prompt(SHARED, 64, family, 0));
    for (int session = 0; session < sessions; session++) {
      PromptResult.Tokens prompt = World.prompt(SHARED, 64, family, session);
      Assignment assignment = world.assign(World.request(prompt).only(Set.of("r0")));
      assignment.usage(SHARED + 64, SHARED);
      assignment.finished(Outcome.COMPLETED);
    }
  }

  private Sent last() {
    return sent.get(sent.size() - 1);
  }

  private void answer(Result result) {
    last().done.accept(result);
  }

  private EngineState engine(String name) {
    EngineState found = world.dispatcher.engine(name);
    assertThat(found).isNotNull();
    return found;
  }

  private Prewarming.Status status(String name) {
    Prewarming.Status status = prewarming.status(engine(name));
    assertThat(status).isNotNull();
    return status;
  }

  @Test
  void aNewEngineComputesWhatSessionsShareTheMostWantedFirst() {
    serve(1, 3);
    serve(2, 5);
    world.add("r1");
    prewarming.look();
    assertThat(sent).hasSize(1);
    assertThat(last().engine).isEqualTo(engine("r1"));
    assertThat(last().prefix.tokenIds()).isEqualTo(World.prompt(SHARED, 64, 2, 0).first(SHARED));
    world.pass(40);
    answer(Result.COMPUTED);
    assertThat(sent).hasSize(2);
    assertThat(last().prefix.tokenIds()).isEqualTo(World.prompt(SHARED, 64, 1, 0).first(SHARED));
    world.pass(20);
    answer(Result.COMPUTED);
    assertThat(status("r1")).isEqualTo(new Prewarming.Status(State.DONE, 2, 2, 2 * SHARED, 60));
    assertThat(sent).allMatch(each -> each.engine.name().equals("r1"));
  }

  @Test
  void itIsLoadAndNoTraffic() {
    serve(1, 3);
    serve(2, 5);
    double assignments = assignments();
    Replica newcomer = world.add("r1");
    prewarming.look();
    EngineState engine = engine("r1");
    EngineState.Snapshot now = engine.snapshot(world.nanos.get());
    assertThat(newcomer.requests()).isEqualTo(1);
    assertThat(now.load().requestsInFlight()).isEqualTo(1);
    assertThat(now.load().queuedPrefillTokens()).isEqualTo(SHARED);
    assertThat(now.plannedTokens()).isEqualTo(SHARED);
    assertThat(now.expectedBlocks().expected()).isEqualTo(SHARED / 16);
    world.pass(100);
    answer(Result.COMPUTED);
    assertThat(engine.snapshot(world.nanos.get()).load().queuedPrefillTokens()).isEqualTo(SHARED);
    world.pass(100);
    answer(Result.COMPUTED);
    assertThat(engine.snapshot(world.nanos.get()).plannedTokens()).isZero();
    now = engine.snapshot(world.nanos.get());
    assertThat(now.load().requestsInFlight()).isZero();
    assertThat(now.load().queuedPrefillTokens()).isZero();
    assertThat(now.prefillSamples()).isEqualTo(2);
    assertThat(newcomer.requests()).isZero();
    assertThat(assignments()).isEqualTo(assignments);
    assertThat(world.counted(Metric.OUTCOMES_TOTAL, "r1", "completed")).isZero();
    assertThat(world.counted(Metric.PREWARM_REQUESTS_TOTAL, "r1", "computed")).isEqualTo(2);
    assertThat(world.counted(Metric.PREWARM_TOKENS_TOTAL, "r1")).isEqualTo(2 * SHARED);
  }

  private double assignments() {
    return Metric.ASSIGNMENTS_TOTAL.in(world.metrics.registry()).counters().stream()
        .mapToDouble(counter -> counter.count())
        .sum();
  }

  @Test
  void aRequestBreaksItOffAndItGoesOnWhenTheEngineIsIdle() {
    serve(1, 3);
    serve(2, 5);
    world.add("r1");
    prewarming.look();
    Assignment assignment = assign("r1");
    assertThat(sent).singleElement().matches(each -> each.brokenOff);
    answer(Result.COMPUTED); // too late
    EngineState.Snapshot now = engine("r1").snapshot(world.nanos.get());
    assertThat(now.load().requestsInFlight()).isEqualTo(1);
    assertThat(now.load().queuedPrefillTokens()).isEqualTo(1_000);
    assertThat(now.plannedTokens()).isZero();
    prewarming.look();
    assertThat(sent).hasSize(1);
    assignment.finished(Outcome.COMPLETED);
    prewarming.look();
    assertThat(sent).hasSize(2);
    assertThat(last().prefix.tokenIds()).isEqualTo(sent.get(0).prefix.tokenIds());
    assertThat(engine("r1").snapshot(world.nanos.get()).load().queuedPrefillTokens())
        .isEqualTo(SHARED);
    assertThat(world.counted(Metric.PREWARM_REQUESTS_TOTAL, "r1", "broken_off")).isEqualTo(1);
    answer(Result.COMPUTED);
    answer(Result.COMPUTED);
    assertThat(status("r1").state()).isEqualTo(State.DONE);
  }

  private Assignment assign(String replica) {
    Assignment assignment =
        world.assign(World.request(World.prompt(1_000, 0, 9, 0)).only(Set.of(replica)));
    prewarming.assigned(World.request(World.prompt(1)), assignment);
    return assignment;
  }

  /** As another router's request does. */
  @Test
  void loadThatNobodyToldBreaksItOff() {
    serve(1, 3);
    world.add("r1");
    prewarming.look();
    world.assign(World.request(World.prompt(1_000, 0, 9, 0)).only(Set.of("r1")));
    prewarming.look();
    assertThat(last().brokenOff).isTrue();
  }

  @Test
  void whatHasToBeComputedFirstKeepsRequestsOffWhileOthersAreIdle() {
    serve(1, 3);
    Replica newcomer = world.add("r1");
    newcomer.health(Replica.Health.DOWN);
    prewarming.look();
    assertThat(sent).isEmpty();
    newcomer.health(Replica.Health.UP);
    for (int i = 0; i < 4; i++) {
      Assignment assignment = world.assign(World.prompt(16, 0, 20 + i, 0));
      assertThat(assignment.engine()).isEqualTo("r0");
      assignment.finished(Outcome.COMPLETED);
    }
    world.assign(World.prompt(SHARED * 20, 0, 30, 0)); // keeps r0 busy for longer than that
    assertThat(world.assign(World.prompt(16, 0, 31, 0)).engine()).isEqualTo("r1");
  }

  @Test
  void aNewcomerWithoutEventsKeepsNothingOffForLong() {
    serve(1, 3);
    Replica newcomer = world.add("r1");
    world.trust("r1", Trust.NONE);
    newcomer.health(Replica.Health.DOWN);
    prewarming.look();
    assertThat(engine("r1").snapshot(0).plannedTokens()).isEqualTo(SHARED);
    newcomer.health(Replica.Health.UP);
    prewarming.look();
    world.pass(1_900);
    prewarming.look();
    assertThat(engine("r1").snapshot(0).plannedTokens()).isEqualTo(SHARED);
    world.pass(200);
    prewarming.look();
    assertThat(engine("r1").snapshot(0).plannedTokens()).isZero();
    world.trust("r1", Trust.EXACT);
    prewarming.look();
    assertThat(sent).hasSize(1);
  }

  /** It announces nothing before it stores something. */
  @Test
  void anEngineThatIsSilentGetsTheFirstPrefixAndTheNextWhenItIsExact() {
    serve(1, 3);
    serve(2, 5);
    world.add("r1");
    world.trust("r1", Trust.NONE);
    prewarming.look();
    assertThat(sent).as("its events would not be heard").isEmpty();
    world.connected.add(world.replica("r1"));
    prewarming.look();
    answer(Result.COMPUTED);
    prewarming.look();
    assertThat(sent).hasSize(1);
    world.trust("r1", Trust.EXACT);
    prewarming.look();
    assertThat(sent).hasSize(2);
    world.trust("r1", Trust.SUSPECT);
    answer(Result.COMPUTED);
    assertThat(status("r1").state()).isEqualTo(State.DONE);
  }

  @Test
  void itComputesForNoLongerThanItMay() {
    serve(1, 3);
    serve(2, 5);
    computeMillis = 50;
    world.add("r1");
    prewarming.look();
    world.pass(60);
    answer(Result.COMPUTED);
    assertThat(sent).hasSize(1);
    assertThat(status("r1").state()).isEqualTo(State.SPENT);
  }

  @Test
  void itIsNotWaitedForThatAnEngineIsIdle() {
    serve(1, 3);
    world.add("r1");
    Assignment busy = assign("r1");
    prewarming.look();
    assertThat(sent).isEmpty();
    world.pass(61_000);
    prewarming.look();
    busy.finished(Outcome.COMPLETED);
    prewarming.look();
    assertThat(sent).isEmpty();
    assertThat(status("r1").state()).isEqualTo(State.LATE);
  }

  @Test
  void anEngineThatRefusesOrFailsIsAskedNoMore() {
    serve(1, 3);
    serve(2, 5);
    world.add("r1");
    world.add("r2");
    prewarming.look();
    assertThat(sent).hasSize(2);
    sent.get(0).done.accept(Result.REFUSED);
    sent.get(1).done.accept(Result.FAILED);
    prewarming.look();
    assertThat(sent).hasSize(2);
    assertThat(status("r1").state()).isEqualTo(State.REFUSED);
    assertThat(status("r2").state()).isEqualTo(State.FAILED);
    assertThat(engine("r2").snapshot(world.nanos.get()).load().requestsInFlight()).isZero();
    assertThat(engine("r2").snapshot(world.nanos.get()).plannedTokens()).isZero();
    assertThat(engine("r2").snapshot(world.nanos.get()).ejected()).isFalse();
  }

  @Test
  void oneThatIsDownOrLeavesIsLeftAlone() {
    serve(1, 3);
    serve(2, 5);
    Replica newcomer = world.add("r1");
    prewarming.look();
    newcomer.health(Replica.Health.DOWN);
    answer(Result.COMPUTED);
    assertThat(status("r1").state()).isEqualTo(State.GONE);
    assertThat(sent).hasSize(1);
  }

  @Test
  void whatAnEngineHoldsIsLeftOut() {
    serve(1, 3);
    serve(2, 5);
    world.add("r1");
    world.store("r1", SHARED / 16, World.prompt(SHARED, 64, 2, 0));
    world.store("r1", 5, World.prompt(SHARED, 64, 1, 0));
    prewarming.look();
    answer(Result.COMPUTED);
    assertThat(sent).hasSize(1);
    assertThat(last().prefix.tokenIds()).startsWith(100_000);
    assertThat(world.counted(Metric.PREWARM_TOKENS_TOTAL, "r1")).isEqualTo(SHARED - 80);
  }

  @Test
  void anEngineThatHasLostItsCacheIsANewcomer() {
    serve(1, 3);
    world.add("r1");
    prewarming.look();
    answer(Result.COMPUTED);
    world.store("r1", SHARED / 16, World.prompt(SHARED, 64, 1, 0));
    prewarming.look();
    assertThat(sent).hasSize(1);
    world.lose("r1");
    prewarming.look();
    assertThat(sent).hasSize(2);
  }

  @Test
  void newcomersAreLeftAloneByTheKeyAndWhereAnotherRouterSeesToThem() {
    serve(1, 3);
    seesNewcomers = false;
    world.add("r1");
    prewarming.look();
    seesNewcomers = true;
    world.add("r2");
    prewarming.look(false);
    prewarming.look();
    assertThat(sent).isEmpty();
    assertThat(prewarming.begin(engine("r1")).state()).isEqualTo(State.RUNNING);
    assertThat(prewarming.begin(engine("r1")).prefixes()).isEqualTo(1);
    assertThat(sent).hasSize(1);
  }

  @Test
  void itSaysWhyItDoesNotBegin() {
    world.add("r1");
    assertThat(prewarming.begin(engine("r1")).state()).isEqualTo(State.NOTHING_SHARED);
    serve(1, 3);
    world.trust("r1", Trust.SUSPECT);
    assertThat(prewarming.begin(engine("r1")).state()).isEqualTo(State.NOT_EXACT);
    world.replica("r1").health(Replica.Health.DOWN);
    assertThat(prewarming.begin(engine("r1")).state()).isEqualTo(State.NOT_WELL);
    Replica decode = world.add("r2");
    decode.transfer(
        new KvTransfer(KvTransfer.Role.DECODE, KvTransfer.Connector.NIXL, "", "", 0, 0, false));
    assertThat(prewarming.begin(engine("r2")).state()).isEqualTo(State.DECODES);
    assertThat(sent).isEmpty();
  }

  /** Only a prompt whose tokens are proven is computed elsewhere. */
  @Test
  void promptsInANameSpaceOfTheirOwnAreLeftOut() {
    for (int session = 0; session < 5; session++) {
      PromptResult.Tokens prompt = World.prompt(SHARED, 64, 1, session).in("tenant");
      Assignment assignment = world.assign(World.request(prompt).only(Set.of("r0")));
      assignment.usage(SHARED + 64, SHARED);
      assignment.finished(Outcome.COMPLETED);
    }
    world.add("r1");
    assertThat(prewarming.begin(engine("r1")).state()).isEqualTo(State.NOTHING_SHARED);
  }

  @Test
  void itTakesNoPlaceFromOneThatWaits() {
    World full = new World("warm", 1).with(1);
    full.dispatcher.prefixes().keepTokens(true);
    List<Sent> sent = new ArrayList<>();
    Prewarming prewarming =
        new Prewarming(
            full.dispatcher,
            full.index,
            (engine, prefix, done) -> {
              Sent one = new Sent(engine, prefix, done);
              sent.add(one);
              return () -> one.brokenOff = true;
            },
            () -> new Prewarming.Limits(true, 10_000),
            true);
    full.store("r0", SHARED / 16, World.prompt(SHARED, 64, 1, 0));
    for (int session = 0; session < 3; session++) {
      Assignment assignment = full.assign(World.prompt(SHARED, 64, 1, session));
      assignment.usage(SHARED + 64, SHARED);
      assignment.finished(Outcome.COMPLETED);
    }
    full.lose("r0");
    prewarming.look();
    assertThat(sent).hasSize(1);
    List<DispatchResult> later = new ArrayList<>();
    full.dispatcher.admit(World.request(World.prompt(16)), later::add);
    assertThat(later).isEmpty();
    prewarming.look();
    assertThat(later).singleElement().isInstanceOf(Assignment.class);
    assertThat(sent).singleElement().matches(each -> each.brokenOff);
  }

  @Test
  void closingBreaksItOff() {
    serve(1, 3);
    world.add("r1");
    prewarming.look();
    prewarming.close();
    assertThat(last().brokenOff).isTrue();
    assertThat(engine("r1").snapshot(world.nanos.get()).load().requestsInFlight()).isZero();
  }
}
