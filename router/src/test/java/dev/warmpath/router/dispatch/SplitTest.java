package dev.warmpath.router.dispatch;

import static dev.warmpath.router.dispatch.World.prompt;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.EngineView;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.router.fleet.KvTransfer;
import dev.warmpath.router.fleet.KvTransfer.Connector;
import dev.warmpath.router.fleet.KvTransfer.Role;
import dev.warmpath.router.fleet.Outcome;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.routing.SplitRules;
import dev.warmpath.tokenizer.PromptResult;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Which two engines a request is split over, and what is reserved at them. */
class SplitTest {

  private final World world = new World("warm");

  private Replica add(String name, Role role, Connector connector, String group) {
    Replica replica = world.add(name);
    world.fleet.updateTransfer(
        replica, new KvTransfer(role, connector, group, name, 8998, 0, true));
    return replica;
  }

  private Replica add(String name, Role role) {
    return add(name, role, Connector.NIXL, "");
  }

  private void rule(String name) {
    world.dispatcher.splitRule(SplitRules.named(name, Map.of()));
  }

  private Assignment assign(PromptResult prompt) {
    return world.assign(World.request(prompt).split());
  }

  private static String way(Assignment assignment) {
    Assignment prefill = assignment.prefill();
    return (prefill == null ? "" : prefill.engine() + ">") + assignment.engine();
  }

  private int inFlight(String engine) {
    return world.report(engine).state().load().requestsInFlight();
  }

  @Test
  void onePromptIsComputedByOneAndAnsweredByAnother() {
    rule("always");
    add("p", Role.PREFILL);
    add("d", Role.DECODE);
    Assignment assignment = assign(prompt(1000));
    assertThat(way(assignment)).isEqualTo("p>d");
    assertThat(world.report("p").state().load().queuedPrefillTokens()).isEqualTo(1000);
    assertThat(world.report("d").state().load().queuedPrefillTokens()).isZero();
    assertThat(world.report("d").state().load().contextTokens()).isEqualTo(1000);
    assignment.prefill().finished(Outcome.COMPLETED);
    assertThat(inFlight("p")).isZero();
    assignment.finished(Outcome.COMPLETED);
    assertThat(inFlight("d")).isZero();
  }

  @Test
  void theLastOneEndsBoth() {
    rule("always");
    add("p", Role.PREFILL);
    add("d", Role.DECODE);
    assign(prompt(1000)).finished(Outcome.CANCELLED);
    assertThat(inFlight("p") + inFlight("d")).isZero();
  }

  @Test
  void shortPromptsStayWholeAndLongOnesAreSplit() {
    add("p", Role.PREFILL);
    add("d", Role.DECODE);
    assertThat(way(assign(prompt(20)))).isEqualTo("d");
    for (int i = 0; i < 6; i++) { // streams that a prefill would hold up
      assign(prompt(16, 4, 9, i)).firstToken();
    }
    assertThat(way(assign(prompt(20_000)))).isEqualTo("p>d");
  }

  @Test
  void whatTheDecodeHoldsIsNotComputedElsewhere() {
    add("p", Role.PREFILL);
    add("d", Role.DECODE);
    for (int i = 0; i < 6; i++) {
      assign(prompt(16, 4, 9, i)).firstToken();
    }
    world.store("d", 1250, prompt(20_000));
    assertThat(way(assign(prompt(20_000)))).isEqualTo("d");
  }

  @Test
  void eachLegGoesWhereItsPartIsCheapest() {
    rule("always");
    add("p0", Role.PREFILL);
    add("p1", Role.PREFILL);
    add("d0", Role.DECODE);
    add("d1", Role.DECODE);
    world.store("p1", 500, prompt(10_000));
    world.store("d1", 300, prompt(10_000));
    assertThat(way(assign(prompt(10_000)))).isEqualTo("p1>d1");
  }

  @Test
  void enginesThatDoBothComputeForEachOtherButNotForThemselves() {
    rule("always");
    add("a", Role.BOTH);
    assertThat(way(assign(prompt(1000)))).isEqualTo("a");
    add("b", Role.BOTH);
    assertThat(way(assign(prompt(1000)))).matches("a>b|b>a");
  }

  /** Nobody said which of them computes and which answers: what they did shows it. */
  @Test
  void anEngineThatComputesPromptsLeavesAnswersToOneThatDoesNot() {
    Replica answering = add("a", Role.BOTH);
    Replica computing = add("b", Role.BOTH);
    rule("never");
    computing.draining(true);
    for (int i = 0; i < 8; i++) {
      assign(prompt(16, 4, 9, i)).firstToken();
    }
    computing.draining(false);
    answering.draining(true);
    for (int i = 0; i < 6; i++) {
      Assignment long20k = assign(prompt(0, 20_000, 1, i));
      world.pass(1_500);
      long20k.firstToken();
      long20k.finished(Outcome.COMPLETED);
    }
    answering.draining(false);
    rule("cheapest");
    Assignment split = assign(prompt(0, 20_000, 1, 7));
    assertThat(way(split)).isEqualTo("b>a");
    split.finished(Outcome.CANCELLED);
    world.pass(120_000); // which is long ago
    assertThat(way(assign(prompt(0, 20_000, 1, 8)))).isEqualTo("b");
  }

  /** The one that holds a part is slow for answers. */
  @Test
  void explainsByTheSamePrices() {
    Replica idle = add("a", Role.BOTH);
    add("b", Role.BOTH);
    world.store("b", 200, prompt(4_000, 16_000, 3, 1));
    rule("never");
    assertThat(explained()).as("as long as nothing is split").isEqualTo("b");
    idle.draining(true);
    for (int i = 0; i < 6; i++) {
      Assignment long20k = assign(prompt(0, 20_000, 1, i));
      world.pass(1_500);
      long20k.firstToken();
      long20k.finished(Outcome.COMPLETED);
    }
    idle.draining(false);
    assertThat(explained()).isEqualTo("b");
    rule("cheapest");
    assertThat(explained()).isEqualTo("a");
    assertThat(way(world.assign(World.request(prompt(4_000, 16_000, 3, 1))))).isEqualTo("a");
  }

  private String explained() {
    return world.dispatcher.explain(World.request(prompt(4_000, 16_000, 3, 1))).winner();
  }

  @Test
  void aPrefillNeverAnswersAndIsNotMissed() {
    add("p", Role.PREFILL);
    DispatchResult nobody = world.dispatcher.assign(World.request(prompt(1000)).split(), Set.of());
    assertThat(nobody).isInstanceOf(DispatchResult.NoCandidate.class);
    assertThat(world.dispatcher.assign(World.request(prompt(1000)), Set.of()))
        .isInstanceOf(DispatchResult.NoCandidate.class);
  }

  @Test
  void aRequestThatCannotBeSplitGoesToOne() {
    rule("always");
    add("p", Role.PREFILL);
    add("d", Role.DECODE);
    assertThat(way(world.assign(World.request(prompt(1000))))).isEqualTo("d");
    assertThat(way(world.assign(World.request(prompt(1000)).only(Set.of("d")).split())))
        .isEqualTo("d");
  }

  @ParameterizedTest
  @EnumSource(
      value = Connector.class,
      names = {"NIXL_PUSH", "SGLANG"})
  void otherConnectorsAreNoPair(Connector other) {
    rule("always");
    add("p", Role.PREFILL, other, "");
    add("d", Role.DECODE);
    assertThat(way(assign(prompt(1000)))).isEqualTo("d");
  }

  @Test
  void otherGroupsAreNoPair() {
    rule("always");
    add("p", Role.PREFILL, Connector.NIXL, "rack-1");
    add("d1", Role.DECODE, Connector.NIXL, "rack-1");
    add("d2", Role.DECODE, Connector.NIXL, "rack-2");
    for (int i = 0; i < 4; i++) {
      assertThat(way(assign(prompt(1000)))).isEqualTo("p>d1");
    }
  }

  @Test
  void otherBlockSizesAreNoPair() {
    rule("always");
    add("p", Role.PREFILL);
    Replica d = add("d", Role.DECODE);
    EngineView view = world.views.get(d);
    world.views.put(d, new EngineView(view.slot(), new ChainSpace("m", 32, 0), view.trust()));
    assertThat(way(assign(prompt(1000)))).isEqualTo("d");
  }

  @Test
  void withoutAPrefillThatIsWellTheDecodeComputes() {
    rule("always");
    Replica p = add("p", Role.PREFILL);
    add("d", Role.DECODE);
    p.health(Replica.Health.DOWN);
    assertThat(way(assign(prompt(1000)))).isEqualTo("d");
    p.health(Replica.Health.UP);
    assertThat(way(assign(prompt(1000)))).isEqualTo("p>d");
    p.draining(true);
    assertThat(way(assign(prompt(1000)))).isEqualTo("d");
  }

  /** "There are others" means others that can do the same. */
  @Test
  void anEjectedDecodeIsNotReplacedByAPrefill() {
    rule("always");
    add("p", Role.PREFILL);
    add("d", Role.DECODE);
    assign(prompt(1000)).rest(60);
    assertThat(way(assign(prompt(1000)))).isEqualTo("p>d");
    add("d2", Role.DECODE);
    assertThat(way(assign(prompt(1000)))).isEqualTo("p>d2");
  }

  @Test
  void aPrefillWithoutADecodeIsNoneOfThem() {
    rule("always");
    add("p1", Role.PREFILL, Connector.NIXL, "rack-1");
    add("p2", Role.PREFILL, Connector.NIXL, "rack-2");
    add("d1", Role.DECODE, Connector.NIXL, "rack-1").draining(true);
    add("d2", Role.DECODE, Connector.NIXL, "rack-2");
    for (int i = 0; i < 4; i++) {
      assertThat(way(assign(prompt(0, 1000, 1, i)))).isEqualTo("p2>d2");
    }
  }

  @Test
  void bothReservationsHaveANumberOfTheirOwn() {
    rule("always");
    add("p", Role.PREFILL);
    add("d", Role.DECODE);
    Assignment first = assign(prompt(1000));
    Assignment second = assign(prompt(1000));
    assertThat(
            Set.of(
                first.number(),
                first.prefill().number(),
                second.number(),
                second.prefill().number()))
        .hasSize(4);
  }

  @Test
  void aDecodeThatWaitsForItsPromptOwesNoAnswer() {
    rule("always");
    add("p", Role.PREFILL);
    Replica d = add("d", Role.DECODE);
    Assignment waiting = assign(prompt(1000));
    assertThat(d.requests()).isEqualTo(1);
    world.pass(60_000);
    d.findStuck(Replica.STUCK_NANOS, world.nanos.get());
    assertThat(d.illness()).isZero();
    Replica p = world.replica("p");
    p.findStuck(Replica.STUCK_NANOS, world.nanos.get());
    assertThat(p.illness()).as("there it waits for an answer").isPositive();
    waiting.finished(Outcome.CANCELLED);
    assertThat(d.requests()).isZero();
    assertThat(p.illness()).isZero();
  }

  @Test
  void aDecodeServerOfSglangComputesNothing() {
    rule("never");
    Replica p = add("p", Role.PREFILL, Connector.SGLANG, "");
    add("d", Role.DECODE, Connector.SGLANG, "");
    assertThat(way(assign(prompt(1000)))).isEqualTo("p>d");
    p.health(Replica.Health.DOWN);
    DispatchResult nobody = world.dispatcher.assign(World.request(prompt(1000)).split(), Set.of());
    assertThat(nobody).isInstanceOf(DispatchResult.NoCandidate.class);
  }

  @Test
  void whatAPairHasShownIsLearned() {
    rule("always");
    add("p", Role.PREFILL);
    add("d0", Role.DECODE);
    add("d1", Role.DECODE);
    for (int i = 0; i < 100; i++) {
      Assignment assignment = assign(prompt(0, 10_000, 1, i));
      assignment.transferred(assignment.engine().equals("d0") ? 5_000 : 50);
      assignment.finished(Outcome.COMPLETED);
    }
    for (int i = 0; i < 5; i++) {
      Assignment assignment = assign(prompt(0, 10_000, 1, 1_000 + i));
      assertThat(way(assignment)).isEqualTo("p>d1");
      assignment.finished(Outcome.COMPLETED);
    }
  }

  /** Both are reserved as one: a choice that was overtaken by another begins again. */
  @Test
  void concurrentChoicesKeepTheBooks() throws Exception {
    rule("always");
    for (int i = 0; i < 3; i++) {
      add("e" + i, Role.BOTH);
    }
    ExecutorService threads = Executors.newFixedThreadPool(4);
    CountDownLatch done = new CountDownLatch(4);
    for (int t = 0; t < 4; t++) {
      int family = t;
      threads.execute(() -> {
        for (int i = 0; i < 500; i++) {
          Assignment assignment = assign(prompt(64, 64, family, i));
          if (i % 2 == 0) {
            assignment.prefill().finished(Outcome.COMPLETED);
          }
          assignment.finished(Outcome.COMPLETED);
        }
        done.countDown();
      });
    }
    assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();
    threads.shutdown();
    assertThat(IntStream.range(0, 3).map(i -> inFlight("e" + i)).sum()).isZero();
    assertThat(IntStream.range(0, 3).map(i -> world.replica("e" + i).requests()).sum()).isZero();
  }
}
