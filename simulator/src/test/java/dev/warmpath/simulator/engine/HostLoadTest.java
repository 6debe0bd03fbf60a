package dev.warmpath.simulator.engine;

import static dev.warmpath.simulator.engine.TestEngines.request;
import static dev.warmpath.simulator.engine.TestEngines.serve;
import static dev.warmpath.simulator.engine.TestEngines.tokens;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.simulator.live.CacheEvent;
import dev.warmpath.simulator.live.TokenEngine;
import dev.warmpath.simulator.live.TokenRequest;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What host memory holds is loaded beside the steps. A load takes 100 ms and 1 ms a token here. */
class HostLoadTest {

  private static final StepCost COST = new StepCost(10, 1, 0, 0);

  private final TokenEngine engine = engine(12);

  private static TokenEngine engine(int blocks) {
    KvCacheConfig cache = KvCacheConfig.fullAttention(4, blocks).withHost(100);
    return new TokenEngine(
        new EngineConfig(cache, 1000, 8, cache.maxSequenceTokens(), COST, new Link(100, 1000)),
        TestEngines.HASHING);
  }

  /** Most of the first prompt is in host memory only then. */
  private void spill() {
    serve(engine, request("old", tokens(0, 21), 1));
    serve(engine, request("new", tokens(100, 36), 1));
  }

  @ParameterizedTest
  @CsvSource({"2147483647, 20", "20, 20", "19, 16", "4, 4", "3, 0", "0, 0"})
  void aCapCountsFromWhatTheGpuHoldsInWholeBlocks(int cap, int loaded) {
    spill();
    int gpu = engine.cachedTokens(request("", tokens(0, 21), 1).loading(0));
    int expected = gpu + Math.min(loaded, 20 - gpu);
    TokenRequest again = request("again", tokens(0, 21), 1).loading(cap);
    assertThat(serve(engine, again)).isEqualTo(expected);
    assertThat(engine.load().hostHitsTokens()).isEqualTo(expected - gpu);
    engine.checkInvariants();
  }

  @Test
  void aLoadTakesItsTimeAndThenTheRestIsComputed() {
    spill();
    int gpu = engine.cachedTokens(request("", tokens(0, 21), 1).loading(0));
    engine.submit(request("again", tokens(0, 21), 1));
    assertThat(engine.beginStep()).isEqualTo(100 + (20 - gpu));
    assertThat(engine.waitsForLoad()).isTrue();
    assertThat(engine.load().running()).isZero();
    assertThat(engine.endStep().events()).as("nothing is stored yet").noneMatch(isStored());
    assertThat(engine.beginStep()).isEqualTo(10 + 1);
    assertThat(engine.waitsForLoad()).isFalse();
    assertThat(engine.endStep().tokens()).hasSize(1);
    assertThat(engine.idle()).isTrue();
  }

  @Test
  void othersComputeMeanwhile() {
    TokenEngine roomy = engine(16);
    serve(roomy, request("old", tokens(0, 21), 1));
    serve(roomy, request("new", tokens(100, 56), 1));
    roomy.submit(request("again", tokens(0, 21), 1));
    roomy.submit(request("other", tokens(500, 8), 1));
    assertThat(roomy.beginStep(1_000_000_000)).isEqualTo(10 + 8);
    assertThat(roomy.endStep().tokens())
        .singleElement()
        .matches(t -> t.requestId().equals("other"));
    assertThat(roomy.beginStep(1_018_000_000)).isEqualTo(100 + 16 - 18);
    assertThat(roomy.waitsForLoad()).isTrue();
  }

  @Test
  void theSameBlocksAreLoadedOnce() {
    TokenEngine roomy = engine(16);
    serve(roomy, request("old", tokens(0, 21), 1));
    serve(roomy, request("new", tokens(100, 56), 1));
    roomy.submit(request("a", tokens(0, 21), 1));
    roomy.submit(request("b", tokens(0, 21), 1));
    assertThat(roomy.beginStep()).as("one block is still on the GPU").isEqualTo(100 + 16);
    roomy.endStep();
    assertThat(roomy.beginStep()).isEqualTo(10 + 2);
    assertThat(roomy.endStep().tokens()).allMatch(token -> token.cachedTokens() == 20).hasSize(2);
    assertThat(roomy.load().hostHitsTokens()).isEqualTo(16);
  }

  @Test
  void aLoadWhoseRequestIsGivenUpKeepsItsBlocksUntilItEnds() {
    spill();
    engine.submit(request("again", tokens(0, 21), 1));
    engine.beginStep();
    engine.abort("again");
    assertThat(engine.load().cacheUsage()).isPositive();
    assertThat(engine.idle()).isFalse();
    assertThat(engine.resetPrefixCache()).isFalse();
    engine.endStep();
    engine.beginStep();
    assertThat(engine.endStep().tokens()).isEmpty();
    assertThat(engine.load().cacheUsage()).isZero();
    assertThat(engine.idle()).isTrue();
    engine.checkInvariants();
  }

  private static Predicate<CacheEvent> isStored() {
    return CacheEvent.Stored.class::isInstance;
  }
}
