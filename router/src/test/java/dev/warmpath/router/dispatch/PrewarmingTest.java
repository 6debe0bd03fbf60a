package dev.warmpath.router.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.Trust;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.router.dispatch.Prewarming.Result;
import dev.warmpath.router.dispatch.Prewarming.State;
import dev.warmpath.router.fleet.EngineState;
import dev.warmpath.router.fleet.KvTransfer;
import dev.warmpath.router.fleet.OtherLoad;
import dev.warmpath.router.fleet.Outcome;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.fleet.SharedPrefix;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.encode.EncodedText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class PrewarmingTest {

  private static final int SHARED = 320;

  /** Requests go to r0 alone until a test adds others. */
  private final World world = new World("warm").with(1);

  private final List<Sent> sent = new ArrayList<>();
  private long computeMillis = 10_000;
  private final Prewarming prewarming =
      new Prewarming(world.dispatcher, world.index, this::send, () -> computeMillis, true);

  /** A prefix that an engine was asked to compute. */
  private static final class Sent {
    private final EngineState engine;
    private final SharedPrefix prefix;
    private final Consumer<Prewarming.Answer> done;
    private boolean brokenOff;

    private Sent(EngineState engine, SharedPrefix prefix, Consumer<Prewarming.Answer> done) {
      this.engine = engine;
      this.prefix = prefix;
      this.done = done;
    }
  }

  private Runnable send(EngineState engine, SharedPrefix prefix, Consumer<Prewarming.Answer> done) {
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
    answer(last(), result, -1);
  }

  private static void answer(Sent sent, Result result, int computedTokens) {
    String problem = result == Result.COMPUTED ? null : "HTTP 418";
    sent.done.accept(new Prewarming.Answer(result, computedTokens, problem));
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
    assertThat(status("r1"))
        .isEqualTo(new Prewarming.Status(State.DONE, 2, 0, 2, 2 * SHARED, 60, null));
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

  /** With the token behind it and the answer's. */
  @Test
  void whatIsTooLongForTheEngineIsLeftOutAndCounted() {
    serve(1, 3);
    world.add("r1").maxTokens(Map.of("m", SHARED + 1));
    world.add("r2").maxTokens(Map.of("m", SHARED + 2));
    prewarming.look();
    assertThat(sent).singleElement().matches(each -> each.engine.name().equals("r2"));
    assertThat(prewarming.begin(engine("r1")))
        .isEqualTo(Prewarming.Status.not(State.NOTHING_SHARED, 1));
    world.replica("r1").maxTokens(Map.of("m", 4 * SHARED));
    assertThat(prewarming.begin(engine("r1")).tooLong()).isZero();
    assertThat(sent).hasSize(2);
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
    answer(sent.get(0), Result.REFUSED, -1);
    answer(sent.get(1), Result.FAILED, -1);
    prewarming.look();
    assertThat(sent).hasSize(2);
    assertThat(status("r1").state()).isEqualTo(State.REFUSED);
    assertThat(status("r2").state()).isEqualTo(State.FAILED);
    assertThat(engine("r2").snapshot(world.nanos.get()).load().requestsInFlight()).isZero();
    assertThat(engine("r2").snapshot(world.nanos.get()).plannedTokens()).isZero();
    assertThat(engine("r2").snapshot(world.nanos.get()).ejected()).isFalse();
  }

  @Test
  void aPrefixThatIsRefusedIsLeftOutAndAfterTwoInARowAllAre() {
    for (int family = 1; family <= 5; family++) {
      serve(family, 8 - family);
    }
    world.add("r1");
    prewarming.look();
    answer(Result.COMPUTED);
    answer(Result.REFUSED);
    answer(Result.COMPUTED);
    answer(Result.REFUSED);
    assertThat(status("r1").state()).isEqualTo(State.RUNNING);
    answer(Result.REFUSED);
    assertThat(sent).hasSize(5);
    assertThat(status("r1").state()).isEqualTo(State.REFUSED);
    assertThat(status("r1").computed()).isEqualTo(2);
    assertThat(status("r1").problem()).isEqualTo("HTTP 418");
  }

  @Test
  void oneThatIsBusyIsAskedAgainLater() {
    serve(1, 3);
    world.add("r1");
    prewarming.look();
    answer(Result.BUSY);
    prewarming.look();
    assertThat(sent).hasSize(1);
    world.pass(1_000);
    prewarming.look();
    assertThat(sent).hasSize(2);
    assertThat(last().prefix.tokenIds()).isEqualTo(sent.get(0).prefix.tokenIds());
    assertThat(status("r1").state()).isEqualTo(State.RUNNING);
    assertThat(world.counted(Metric.PREWARM_REQUESTS_TOTAL, "r1", "busy")).isEqualTo(1);
  }

  /** What it held already would make it look quick. */
  @Test
  void onlyWhatWasReallyComputedCountsAndShowsItsSpeed() {
    serve(1, 3);
    serve(2, 5);
    world.add("r1");
    world.trust("r1", Trust.NONE);
    world.connected.add(world.replica("r1"));
    prewarming.look();
    world.pass(1);
    answer(last(), Result.COMPUTED, 17);
    assertThat(engine("r1").snapshot(world.nanos.get()).prefillSamples()).isZero();
    assertThat(world.counted(Metric.PREWARM_TOKENS_TOTAL, "r1")).isEqualTo(17);
    world.trust("r1", Trust.EXACT);
    prewarming.look();
    world.pass(100);
    answer(last(), Result.COMPUTED, SHARED + 1);
    assertThat(engine("r1").snapshot(world.nanos.get()).prefillSamples()).isEqualTo(1);
    assertThat(status("r1").tokens()).isEqualTo(17 + SHARED);
  }

  @Test
  void anEngineThatTellsNothingShowsItsSpeedOnlyIfItIsExact() {
    serve(1, 3);
    world.add("r1");
    world.trust("r1", Trust.NONE);
    world.connected.add(world.replica("r1"));
    prewarming.look();
    world.pass(1);
    answer(Result.COMPUTED);
    assertThat(engine("r1").snapshot(world.nanos.get()).prefillSamples()).isZero();
  }

  /** They are told of assignments while the queue is locked. */
  @Test
  void requestsDoNotWaitForWhatIsSent() {
    serve(1, 3);
    Replica newcomer = world.add("r1");
    List<String> done = new ArrayList<>();
    Prewarming[] made = new Prewarming[1];
    Assignment assignment = world.assign(World.request(World.prompt(1)).only(Set.of("r1")));
    assignment.finished(Outcome.COMPLETED);
    Runnable request =
        () -> elsewhere(() -> made[0].assigned(World.request(World.prompt(1)), assignment));
    made[0] =
        new Prewarming(
            world.dispatcher,
            world.index,
            new Prewarming.Sender() {
              @Override
              public Runnable send(
                  EngineState engine, SharedPrefix prefix, Consumer<Prewarming.Answer> answered) {
                request.run();
                done.add("sent");
                return () -> done.add("broken off");
              }

              @Override
              public void began(EngineState engine, Prewarming.Status status) {
                request.run();
                done.add("began");
              }

              @Override
              public void ended(EngineState engine, Prewarming.Status status) {
                request.run();
                done.add("ended");
              }
            },
            () -> 10_000,
            true);
    made[0].begin(engine("r1"));
    assertThat(done).containsExactly("began", "sent", "broken off");
    assertThat(newcomer.requests()).isZero();
    made[0].close();
    assertThat(done).endsWith("ended");
  }

  /** Waits for it on another thread, which must not need a lock of this one. */
  private static void elsewhere(Runnable work) {
    assertThat(CompletableFuture.runAsync(work)).succeedsWithin(Duration.ofSeconds(10));
  }

  @Test
  void aPlaceIsGivenOnUnderNoLockIfSendingFailsAtOnce() {
    World full = new World("warm", 1).with(1);
    full.dispatcher.prefixes().keepTokens(true);
    full.store("r0", SHARED / 16, World.prompt(SHARED, 64, 1, 0));
    for (int session = 0; session < 3; session++) {
      Assignment assignment = full.assign(World.prompt(SHARED, 64, 1, session));
      assignment.usage(SHARED + 64, SHARED);
      assignment.finished(Outcome.COMPLETED);
    }
    full.lose("r0");
    EngineState engine = Objects.requireNonNull(full.dispatcher.engine("r0"));
    List<Prewarming> made = new ArrayList<>();
    List<DispatchResult> later = new ArrayList<>();
    made.add(
        new Prewarming(
            full.dispatcher,
            full.index,
            (to, prefix, done) -> {
              full.dispatcher.admit(
                  World.request(World.prompt(16)),
                  result -> {
                    elsewhere(() -> made.get(0).status(engine));
                    later.add(result);
                  });
              done.accept(new Prewarming.Answer(Result.FAILED, -1, "no answer"));
              return () -> {};
            },
            () -> 10_000,
            true));
    made.get(0).begin(engine);
    assertThat(later).singleElement().isInstanceOf(Assignment.class);
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
  void nothingIsComputedAnywhereIfItMayTakeNoTime() {
    serve(1, 3);
    computeMillis = 0;
    world.add("r1");
    prewarming.look();
    assertThat(prewarming.begin(engine("r1")).state()).isEqualTo(State.OFF);
    computeMillis = 10_000;
    prewarming.look();
    assertThat(sent).as("it was there before").isEmpty();
    assertThat(prewarming.begin(engine("r1")).state()).isEqualTo(State.RUNNING);
    assertThat(prewarming.begin(engine("r1")).prefixes()).isEqualTo(1);
    assertThat(sent).hasSize(1);
    computeMillis = 0;
    prewarming.look();
    assertThat(last().brokenOff).isTrue();
    assertThat(status("r1").state()).isEqualTo(State.OFF);
  }

  /** As another router of the cluster is the first one, until it dies. */
  @Test
  void aNewcomerToWhichAnotherRouterSeesIsHeldBackAndInheritedFromIt() {
    serve(1, 3);
    serve(2, 5);
    world.add("r1");
    prewarming.look(false);
    assertThat(sent).isEmpty();
    assertThat(engine("r1").snapshot(0).plannedTokens()).isEqualTo(2 * SHARED);
    world.store("r1", SHARED / 16, World.prompt(SHARED, 64, 2, 0)); // by that router
    prewarming.look(false);
    assertThat(engine("r1").snapshot(0).plannedTokens()).isEqualTo(SHARED);
    Assignment assignment = assign("r1");
    prewarming.look(false);
    assertThat(engine("r1").snapshot(0).plannedTokens()).isZero();
    assignment.finished(Outcome.COMPLETED);
    world.pass(50_000);
    prewarming.look(true);
    assertThat(sent).hasSize(1);
    assertThat(last().prefix.tokenIds()).isEqualTo(World.prompt(SHARED, 64, 1, 0).first(SHARED));
  }

  @Test
  void itIsHeldBackForNoLongerThanAnEngineMayCompute() {
    serve(1, 3);
    world.add("r1");
    prewarming.look(false);
    world.pass(10_100);
    prewarming.look(false);
    assertThat(engine("r1").snapshot(0).plannedTokens()).isZero();
    world.pass(50_000);
    prewarming.look(false);
    prewarming.look(true);
    assertThat(sent).as("it is no newcomer after a minute").isEmpty();
  }

  /** Routers that know nothing of each other would break each other off all the time. */
  @Test
  void thePauseGrowsEachTimeItIsBrokenOffForOthers() {
    serve(1, 3);
    Replica newcomer = world.add("r1");
    prewarming.look();
    for (int seconds = 1; seconds <= 4; seconds *= 2) {
      newcomer.otherLoad(0, new OtherLoad(1, 0, 0));
      prewarming.look();
      assertThat(last().brokenOff).isTrue();
      newcomer.otherLoad(0, OtherLoad.NONE);
      int before = sent.size();
      world.pass(seconds * 1_000 - 1);
      prewarming.look();
      assertThat(sent).hasSize(before);
      world.pass(1);
      prewarming.look();
      assertThat(sent).hasSize(before + 1);
    }
  }

  @Test
  void oneOfTheSameNameIsAnotherEngine() {
    serve(1, 3);
    Replica before = world.add("r1");
    prewarming.look();
    EngineState old = engine("r1");
    world.fleet.change(List.of(before), List.of());
    world.add("r1");
    prewarming.look();
    assertThat(sent).hasSize(2);
    assertThat(sent.get(0).brokenOff).isTrue();
    assertThat(old.snapshot(world.nanos.get()).load().requestsInFlight()).isZero();
    assertThat(last().engine).isSameAs(engine("r1")).isNotSameAs(old);
    assertThat(last().brokenOff).isFalse();
    assertThat(status("r1").state()).isEqualTo(State.RUNNING);
  }

  @Test
  void aDrainEndsWhatIsUnderWay() {
    serve(1, 3);
    Replica newcomer = world.add("r1");
    prewarming.look();
    newcomer.draining(true);
    prewarming.look();
    assertThat(last().brokenOff).isTrue();
    assertThat(newcomer.requests()).isZero();
    assertThat(status("r1").state()).isEqualTo(State.GONE);
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
    decode.transfer(
        new KvTransfer(KvTransfer.Role.PREFILL, KvTransfer.Connector.SGLANG, "", "", 0, 0, false));
    assertThat(prewarming.begin(engine("r2")).state()).isEqualTo(State.PREFILLS);
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
            () -> 10_000,
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
    world.add("r2");
    prewarming.look(); // as the fleet does while it is closed
    prewarming.begin(engine("r2"));
    assertThat(sent).hasSize(1);
  }

  /** Requests that name no model have the tokens of any. */
  @Test
  void withoutAModelPromptsCountOnlyInAFleetOfOne() {
    world.store("r0", SHARED / 16, World.prompt(SHARED, 64, 1, 0));
    for (int session = 0; session < 3; session++) {
      BlockChain chain = World.chain(World.prompt(SHARED, 64, 1, session));
      EncodedText tokens = new EncodedText(World.prompt(SHARED, 64, 1, session).sequences().get(0));
      world.dispatcher.prefixes().add(null, chain, SHARED / 16, tokens, SHARED / 16);
    }
    world.add("r1");
    prewarming.look();
    assertThat(sent).hasSize(1);
    world.add("r2").models(Set.of("other"));
    assertThat(prewarming.begin(engine("r2")).state()).isEqualTo(State.NOTHING_SHARED);
  }
}
