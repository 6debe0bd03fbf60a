package dev.warmpath.router.dispatch;

import static dev.warmpath.router.dispatch.World.prompt;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.eventingest.EngineView;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.router.fleet.CacheWorth;
import dev.warmpath.router.fleet.Outcome;
import dev.warmpath.router.routing.Candidates;
import dev.warmpath.router.routing.Policy;
import dev.warmpath.router.routing.PrefillCost;
import dev.warmpath.router.routing.RoutingRequest;
import dev.warmpath.router.routing.Score;
import dev.warmpath.tokenizer.PromptResult;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What would be lost with an engine. */
class CacheWorthTest {

  private final World world = new World("round-robin").with(3);

  @Test
  void onlyWhatNoOtherEngineHoldsIsWorthSomething() {
    world.store("r0", 50, prompt(1000));
    world.store("r1", 30, prompt(1000));
    world.store("r1", 10, prompt(0, 1000, 0, 7));
    world.dispatcher.appraise();
    assertThat(worth("r0").soleTokens()).isEqualTo(20 * 16);
    assertThat(worth("r1").soleTokens()).isEqualTo(10 * 16);
    assertThat(worth("r2").soleTokens()).isZero();
    double seconds = 320 * PrefillCost.DEFAULT.millisPerToken() / 1e3;
    assertThat(worth("r0").seconds()).isEqualTo(seconds, within(1e-9));
  }

  @Test
  void aCopyThatGoesMakesTheOtherOneSole() {
    world.store("r0", 50, prompt(1000));
    world.store("r1", 50, prompt(1000));
    world.dispatcher.appraise();
    assertThat(worth("r0").soleTokens()).isZero();
    world.lose("r1");
    world.dispatcher.appraise();
    assertThat(worth("r0").soleTokens()).isEqualTo(800);
    assertThat(worth("r1")).isEqualTo(new CacheWorth(0, 1, 0));
  }

  @Test
  void whatIsNotKnownIsNotWorthNothing() {
    world.store("r0", 50, prompt(1000));
    world.trust("r0", Trust.SUSPECT);
    world.views.put(world.replica("r1"), EngineView.UNSEEN);
    world.dispatcher.appraise();
    assertThat(worth("r0")).isNull();
    assertThat(worth("r1")).isNull();
    assertThat(world.dispatcher.worthSeconds()).isEqualTo(Map.of("r2", 0.0));
    world.trust("r0", Trust.EXACT);
    world.dispatcher.appraise();
    assertThat(world.dispatcher.worthSeconds()).containsOnlyKeys("r0", "r2");
    assertThat(worth("r0").soleTokens()).isEqualTo(800);
  }

  @Test
  void theLeastChanceOfItsModelsCounts() {
    Policy usual = new Chance(1);
    Map<String, Policy> byModel = Map.of("n", new Chance(0.25), "other", new Chance(0));
    world.dispatcher.policies(new ModelPolicies(usual, byModel, model -> model));
    world.replica("r0").models(Set.of("m", "n"));
    world.dispatcher.appraise();
    assertThat(worth("r0").reuseChance()).isEqualTo(0.25);
    assertThat(worth("r1").reuseChance()).isEqualTo(1);
  }

  /** Finds all engines as likely to be used again. */
  private record Chance(double chance) implements Policy {

    @Override
    public String name() {
      return "chance";
    }

    @Override
    public int choose(RoutingRequest request, Candidates candidates) {
      return 0;
    }

    @Override
    public String reason(RoutingRequest request, Candidates candidates, int winner) {
      return "first";
    }

    @Override
    public Score score(RoutingRequest request, Candidates candidates, int row) {
      throw new AssertionError("nobody asks why");
    }

    @Override
    public double reuseChance(int engine, long nowNanos) {
      return chance;
    }
  }

  /** As warm learns it: one engine's chats come back, the other's prompts never do. */
  @Test
  void whatComesBackIsWorthMore() {
    World warm = new World("warm");
    warm.add("r0").gpuBlocks(10_000);
    for (int turn = 0; turn < 40; turn++) {
      serve(warm, prompt(0, 1000, 0, turn % 2));
    }
    warm.add("r1").gpuBlocks(10_000);
    warm.replica("r0").draining(true);
    for (int i = 0; i < 2; i++) {
      serve(warm, prompt(0, 1000, 0, 100 + i));
    }
    warm.pass(3_600_000);
    warm.replica("r0").draining(false);
    warm.replica("r1").draining(true);
    serve(warm, prompt(0, 1000, 0, 0));
    warm.store("r0", 62, prompt(0, 1000, 0, 0));
    warm.store("r1", 62, prompt(0, 1000, 0, 100));
    warm.dispatcher.appraise();
    CacheWorth back = warm.report("r0").worth();
    CacheWorth gone = warm.report("r1").worth();
    assertThat(back.soleTokens()).isEqualTo(gone.soleTokens()).isEqualTo(992);
    assertThat(back.reuseChance()).isGreaterThan(gone.reuseChance()).isLessThanOrEqualTo(1);
    assertThat(back.seconds()).isGreaterThan(gone.seconds());
  }

  private static void serve(World world, PromptResult.Tokens prompt) {
    Assignment assignment = world.assign(prompt);
    world.pass(5_000);
    assignment.finished(Outcome.COMPLETED);
  }

  private CacheWorth worth(String engine) {
    return world.report(engine).worth();
  }
}
