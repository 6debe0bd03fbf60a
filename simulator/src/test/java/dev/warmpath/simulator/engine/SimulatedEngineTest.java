package dev.warmpath.simulator.engine;

import static dev.warmpath.simulator.engine.TestEngines.engine;
import static dev.warmpath.simulator.engine.TestEngines.request;
import static dev.warmpath.simulator.engine.TestEngines.run;
import static dev.warmpath.simulator.engine.TestEngines.serve;
import static dev.warmpath.simulator.engine.TestEngines.tokens;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.simulator.engine.EngineRequest.Transfer;
import dev.warmpath.simulator.live.CacheEvent;
import dev.warmpath.simulator.live.CacheEvent.Stored;
import dev.warmpath.simulator.live.TokenEngine;
import dev.warmpath.simulator.live.TokenEngine.StepResult;
import dev.warmpath.simulator.live.TokenEngine.StepResult.Token;
import dev.warmpath.simulator.live.TokenRequest;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class SimulatedEngineTest {

  @Test
  void generatedTokensAreCachedExceptTheLast() {
    TokenEngine engine = engine(4, 50, 100);
    TokenRequest first = request("a", tokens(0, 6), 6);
    assertThat(serve(engine, first)).isZero();

    int[] next = Arrays.copyOf(first.prompt(), 20);
    System.arraycopy(first.answer(), 0, next, 6, 6);

    assertThat(engine.committedBlocks()).isEqualTo(2);
    assertThat(serve(engine, request("b", next, 1))).isEqualTo(8);
  }

  @Test
  void promptIsComputedInChunksAndEachStepPublishesItsOwn() {
    TokenEngine engine = engine(4, 50, 10);
    engine.submit(request("a", tokens(0, 24), 2));

    List<StepResult> steps = run(engine);

    assertThat(steps).extracting(step -> step.tokens().size()).containsExactly(0, 0, 1, 1);
    assertThat(steps)
        .extracting(step -> step.events().stream().mapToInt(SimulatedEngineTest::blocks).sum())
        .containsExactly(2, 3, 1, 0);
  }

  @Test
  void aRequestHitsWhatAnotherOneStoresInTheSameStep() {
    TokenEngine engine = engine(4, 50, 100);
    engine.submit(request("a", tokens(0, 9), 1));
    engine.submit(request("b", tokens(0, 9), 1));

    List<Token> tokens = run(engine).get(0).tokens();

    assertThat(tokens).extracting(Token::cachedTokens).containsExactly(0, 8);
  }

  @Test
  void aRequestThatSkipsReadsStoresCopies() {
    TokenEngine engine = engine(4, 50, 100);
    serve(engine, request("a", tokens(0, 9), 1));
    TokenRequest blind = new TokenRequest("b", tokens(0, 9), new int[] {1}, PromptKeys.NONE, false);

    assertThat(serve(engine, blind)).isZero();
    assertThat(engine.committedBlocks()).isEqualTo(4);
  }

  @Test
  void anExactRepeatComputesItsLastBlockAgain() {
    TokenEngine engine = engine(4, 50, 100);
    serve(engine, request("a", tokens(0, 8), 1));

    assertThat(serve(engine, request("b", tokens(0, 8), 1))).isEqualTo(4);
    assertThat(engine.committedBlocks()).isEqualTo(3);
  }

  @Test
  void preemptionKeepsTheFirstCountOfCachedTokensAndFinishesEverybody() {
    TokenEngine engine = engine(4, 11, 100);
    engine.submit(request("a", tokens(0, 16), 20));
    engine.submit(request("b", tokens(100, 16), 20));

    List<Token> tokens = run(engine).stream().flatMap(step -> step.tokens().stream()).toList();

    assertThat(engine.load().preemptions()).isPositive();
    assertThat(tokens).hasSize(40).allMatch(token -> token.cachedTokens() == 0);
    assertThat(tokens).filteredOn(Token::last).hasSize(2);
    engine.checkInvariants();
  }

  @Test
  void resetWaitsForNobodyAndItsEventForTheNextStep() {
    TokenEngine engine = engine(4, 50, 100);
    engine.submit(request("a", tokens(0, 9), 2));
    engine.beginStep();
    engine.endStep();
    assertThat(engine.resetPrefixCache()).isFalse();
    run(engine);
    assertThat(engine.resetPrefixCache()).isTrue();

    engine.submit(request("b", tokens(0, 9), 1));
    List<CacheEvent> events = run(engine).get(0).events();

    assertThat(events.get(0)).isEqualTo(new CacheEvent.Cleared());
    assertThat(events.get(1)).isInstanceOf(Stored.class);
  }

  @Test
  void abortInTheMiddleOfAStepGivesEverythingBack() {
    TokenEngine engine = engine(4, 50, 100);
    engine.submit(request("a", tokens(0, 9), 5));
    engine.beginStep();
    engine.abort("a");

    StepResult result = engine.endStep();

    assertThat(result.tokens()).isEmpty();
    assertThat(result.events()).hasSize(1);
    assertThat(engine.idle()).isTrue();
    assertThat(engine.load().cacheUsage()).isZero();
  }

  @Test
  void blocksHeldForAnotherEngineAreInUseUntilTheyAreFreed() {
    TokenEngine engine = engine(4, 51, 100);
    serve(engine, request("p", tokens(0, 10), 1, new Transfer(0, true)));

    assertThat(engine.load().cacheUsage()).isEqualTo(3 / 50.0);
    assertThat(engine.heldBlocks("p")).isEqualTo(new int[][] {{1, 2, 3}});
    assertThat(engine.resetPrefixCache()).isFalse();
    assertThat(engine.idle()).isTrue();
    engine.abort("p");
    assertThat(engine.load().cacheUsage()).as("an abort after the end").isPositive();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> engine.submit(request("p", tokens(0, 10), 1)));

    assertThat(engine.free("p")).isTrue();
    assertThat(engine.free("p")).isFalse();
    assertThat(engine.load().cacheUsage()).isZero();
    assertThat(serve(engine, request("q", tokens(0, 10), 1))).as("still cached").isEqualTo(8);
    engine.checkInvariants();
  }

  @Test
  void aRequestThatIsGivenUpHoldsNothing() {
    TokenEngine engine = engine(4, 50, 100);
    engine.submit(request("p", tokens(0, 10), 1, new Transfer(0, true)));
    engine.beginStep();
    engine.abort("p");
    engine.endStep();

    assertThat(engine.load().cacheUsage()).isZero();
    assertThat(engine.free("p")).isFalse();
    assertThat(engine.heldBlocks("p")).isEmpty();
  }

  @Test
  void othersWaitForTheRoomOfHeldBlocks() {
    TokenEngine engine = engine(4, 11, 100);
    serve(engine, request("p", tokens(0, 30), 1, new Transfer(0, true)));
    engine.submit(request("q", tokens(100, 20), 1));

    engine.beginStep();
    assertThat(engine.endStep().tokens()).isEmpty();
    assertThat(engine.load().waiting()).isEqualTo(1);
    engine.free("p");

    assertThat(run(engine).get(0).tokens()).extracting(Token::requestId).containsExactly("q");
  }

  @Test
  void whatAnotherEngineComputedIsAnnouncedAndOnlyTheLastTokenComputed() {
    EngineConfig base = TestEngines.config(4, 500, 1000);
    StepCost cost = new StepCost(10, 1, 0.001, 0.5);
    TokenEngine engine =
        new TokenEngine(new EngineConfig(base.cache(), 20, 8, 1000, cost), TestEngines.HASHING);
    engine.submit(request("d", tokens(0, 40), 3, new Transfer(40, false)));

    assertThat(engine.beginStep()).isEqualTo(10 + 1 + 0.001 * 39.5);
    StepResult first = engine.endStep();
    assertThat(first.events()).singleElement().matches(event -> blocks(event) == 10);
    assertThat(first.tokens()).containsExactly(new Token("d", 50_000, 0, 40, 40, false));
    run(engine);
    assertThat(engine.load().receivedTokens()).isEqualTo(40);
    assertThat(serve(engine, request("next", tokens(0, 50), 1))).isEqualTo(40);
  }

  @Test
  void onlyWhatIsMissingComesFromAnotherEngine() {
    TokenEngine engine = engine(4, 50, 100);
    serve(engine, request("a", tokens(0, 10), 1));
    engine.submit(request("d", tokens(0, 22), 1, new Transfer(15, false)));

    StepResult step = run(engine).get(0);

    assertThat(step.tokens()).containsExactly(new Token("d", 50_000, 0, 15, 7, true));
    assertThat(step.events()).singleElement().matches(event -> blocks(event) == 3);
    assertThat(engine.load().cacheHitsTokens()).isEqualTo(8);
    engine.submit(request("e", tokens(0, 22), 1, new Transfer(3, false)));
    assertThat(run(engine).get(0).tokens())
        .as("the cache has more than comes")
        .containsExactly(new Token("e", 50_000, 0, 20, 0, true));
  }

  @Test
  void aPreemptedRequestComputesWhatItHadReceived() {
    StepCost cost = new StepCost(0, 1, 0, 0);
    EngineConfig base = TestEngines.config(4, 11, 100);
    EngineConfig config =
        new EngineConfig(base.cache(), 100, 8, base.cache().maxSequenceTokens(), cost);
    TokenEngine engine = new TokenEngine(config, TestEngines.HASHING);
    engine.submit(request("a", tokens(0, 16), 20));
    engine.submit(request("d", tokens(100, 16), 20, new Transfer(16, false)));
    double computed = 0;
    int tokens = 0;
    while (!engine.idle()) {
      computed += engine.beginStep();
      tokens += engine.endStep().tokens().size();
    }

    assertThat(engine.load().preemptions()).isPositive();
    assertThat(tokens).isEqualTo(40);
    assertThat(engine.load().receivedTokens()).as("once").isEqualTo(16);
    assertThat(computed).as("prompt tokens computed").isGreaterThanOrEqualTo(16 + 1 + 16);
    engine.checkInvariants();
  }

  @Test
  void moreThanThePromptCannotCome() {
    TokenEngine engine = engine(4, 50, 100);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> engine.submit(request("d", tokens(0, 4), 1, new Transfer(5, false))));
  }

  @Test
  void stepsTakeTheTimeOfTheirWork() {
    EngineConfig base = TestEngines.config(4, 500, 1000);
    StepCost cost = new StepCost(10, 1, 0.001, 0.5);
    EngineConfig config = new EngineConfig(base.cache(), 1000, 8, 1000, cost);
    TokenEngine engine = new TokenEngine(config, TestEngines.HASHING);
    engine.submit(request("a", tokens(0, 100), 2));

    assertThat(engine.beginStep()).isEqualTo(10 + 100 + 0.001 * 100 * 50);
    engine.endStep();
    assertThat(engine.beginStep()).isEqualTo(10 + 0.5 * 100);
  }

  @Test
  void requestsThatDoNotFitAreRefused() {
    TokenEngine engine = engine(4, 11, 100);

    assertThatIllegalArgumentException()
        .isThrownBy(() -> engine.submit(request("a", tokens(0, 40), 1)))
        .withMessage("tokens=41 max=40");
  }

  private static int blocks(CacheEvent event) {
    return event instanceof Stored stored ? stored.hashes().size() : 0;
  }
}
