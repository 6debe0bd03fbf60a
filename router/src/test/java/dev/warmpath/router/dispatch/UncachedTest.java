package dev.warmpath.router.dispatch;

import static dev.warmpath.router.dispatch.UncachedTokens.Cause.ELSEWHERE;
import static dev.warmpath.router.dispatch.UncachedTokens.Cause.EVICTED;
import static dev.warmpath.router.dispatch.UncachedTokens.Cause.LOST;
import static dev.warmpath.router.dispatch.UncachedTokens.Cause.MISPREDICTED;
import static dev.warmpath.router.dispatch.UncachedTokens.Cause.NEW;
import static dev.warmpath.router.dispatch.World.prompt;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.Trust;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.router.fleet.Outcome;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.tokenizer.PromptResult;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Why the engines computed what they did. */
class UncachedTest {

  private static final PromptResult.Tokens PROMPT = prompt(1000);

  private final World world = new World("warm").with(1);

  @Test
  void aFirstPromptIsNew() {
    serve(PROMPT, 0);
    assertThat(counted()).isEqualTo(Map.of("new", 1000));
  }

  @Test
  void whatItsEngineDroppedIsEvicted() {
    serve(PROMPT, 0);
    world.store("r0", 62, PROMPT);
    for (int block = 61; block >= 40; block--) {
      world.evict("r0", block, PROMPT);
    }
    serve(PROMPT, 640);
    assertThat(counted()).isEqualTo(Map.of("new", 1008, "evicted", 352));
  }

  @Test
  void whatARestartTookIsLost() {
    serve(PROMPT, 0);
    world.store("r0", 62, PROMPT);
    world.lose("r0");
    serve(PROMPT, 0);
    assertThat(counted()).isEqualTo(Map.of("new", 1008, "lost", 992));
  }

  /** It was under way to the engine when that restarted. */
  @Test
  void whatARestartTookFromARequestInFlightIsLost() {
    Assignment assignment = world.assign(PROMPT);
    world.lose("r0");
    assignment.usage(1000, 0);
    assignment.finished(Outcome.COMPLETED);
    serve(PROMPT, 0);
    assertThat(counted()).isEqualTo(Map.of("new", 1008, "lost", 992));
  }

  @Test
  void whatAReplicaTookWithItIsLost() {
    serve(PROMPT, 0);
    world.add("r1");
    world.fleet.change(List.of(world.replica("r0")), List.of());
    serve(PROMPT, 0);
    assertThat(counted()).isEqualTo(Map.of("new", 1008, "lost", 992));
  }

  @Test
  void whatAnotherEngineHoldsIsElsewhereWhetherOrNotItCouldBeChosen() {
    world.store("r0", 62, PROMPT);
    world.add("r1");
    world.replica("r0").health(Replica.Health.DOWN);
    serve(PROMPT, 0);
    assertThat(counted()).isEqualTo(Map.of("new", 8, "elsewhere", 992));
  }

  @Test
  void whatWasPredictedInVainIsMispredicted() {
    world.store("r0", 50, PROMPT);
    serve(PROMPT, 784);
    assertThat(counted()).isEqualTo(Map.of("new", 200, "mispredicted", 16));
  }

  @Test
  void anAnswerComesBackWithTheNextTurn() {
    Assignment assignment = world.assign(PROMPT);
    assignment.usage(1000, 0);
    assignment.served("m", 0, 100);
    assignment.finished(Outcome.COMPLETED);
    serve(prompt(1500), 0);
    assertThat(counted()).isEqualTo(Map.of("new", 1000 + 412, "evicted", 1088));
  }

  @Test
  void whatFailedWasNotHeld() {
    world.assign(PROMPT).finished(Outcome.FAILED);
    serve(PROMPT, 0);
    assertThat(counted()).isEqualTo(Map.of("new", 1000));
  }

  @Test
  void nothingIsCountedWithoutAPrediction() {
    world.trust("r0", Trust.SUSPECT);
    serve(PROMPT, 0);
    assertThat(counted()).isEmpty();
  }

  @Test
  void anExplanationSaysWhyTheWinnerWouldCompute() {
    serve(PROMPT, 0);
    world.store("r0", 62, PROMPT);
    world.evict("r0", 61, PROMPT);
    UncachedTokens uncached = world.dispatcher.explain(World.request(PROMPT)).uncached();
    assertThat(uncached).isEqualTo(new UncachedTokens(Map.of(EVICTED, 16, NEW, 8)));
  }

  @Test
  void aChoiceKeepsWhy() {
    world.store("r0", 50, PROMPT);
    BlockChain chain = World.chain(PROMPT);
    Choice choice = world.assign(PROMPT).choice();
    assertThat(choice.uncached(1000, -1)).isNull();
    UncachedTokens uncached = choice.uncached(1000, 0);
    assertThat(uncached).isNotNull();
    assertThat(uncached.of(MISPREDICTED)).isEqualTo(50 * chain.space().blockSizeTokens());
    assertThat(uncached.of(ELSEWHERE) + uncached.of(LOST)).isZero();
  }

  @Test
  void aModelThatNobodyServesAnyMoreIsShownNoMore() {
    world.add("r1");
    serve(PROMPT, 0);
    serve(prompt(0, 1000, 0, 7), 0);
    Assignment late = world.assign(PROMPT);
    world.fleet.change(List.of(world.replica("r0")), List.of());
    assertThat(counted()).as("the other one serves it").containsKey("new");
    world.fleet.change(List.of(world.replica("r1")), List.of());
    assertThat(counted()).isEmpty();
    late.usage(1000, 0);
    late.finished(Outcome.COMPLETED);
    assertThat(counted()).isEmpty();
  }

  private void serve(PromptResult.Tokens prompt, int cached) {
    Assignment assignment = world.assign(prompt);
    assignment.usage(prompt.totalTokens(), cached);
    assignment.finished(Outcome.COMPLETED);
  }

  private Map<String, Integer> counted() {
    return Metric.UNCACHED_TOKENS_TOTAL.in(world.metrics.registry()).counters().stream()
        .collect(
            Collectors.toMap(
                counter -> String.valueOf(counter.getId().getTag("cause")),
                counter -> (int) counter.count()));
  }
}
