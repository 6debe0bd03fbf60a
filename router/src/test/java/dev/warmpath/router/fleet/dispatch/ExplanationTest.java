package dev.warmpath.router.fleet.dispatch;

import static dev.warmpath.router.fleet.dispatch.World.prompt;
import static dev.warmpath.router.fleet.dispatch.World.request;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.fleet.engine.Outcome;
import dev.warmpath.router.routing.Score;
import dev.warmpath.router.routing.policy.Policies;
import dev.warmpath.tokenizer.PromptResult;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

/** An explanation says what the next request's assignment does, and changes nothing. */
class ExplanationTest {

  @Property(tries = 60)
  void comesTrue(@ForAll("policies") String policy, @ForAll long seed) {
    World world = new World(policy).with(5);
    Random random = new Random(seed);
    for (int i = 0; i < 40; i++) {
      PromptResult prompt = prompt(160, 320, random.nextInt(3), random.nextInt(5));
      Explanation first = world.dispatcher.explain(request(prompt));
      Explanation second = world.dispatcher.explain(request(prompt));
      Assignment assignment = world.assign(prompt);
      assertThat(second).isEqualTo(first);
      assertThat(assignment.engine()).isEqualTo(first.winner());
      live(world, assignment, prompt, random);
    }
  }

  private static void live(World world, Assignment assignment, PromptResult prompt, Random random) {
    world.pass(random.nextInt(500));
    if (random.nextInt(10) == 0) {
      assignment.finished(Outcome.FAILED);
    } else if (random.nextBoolean()) {
      assignment.firstToken();
      world.store(assignment.engine(), 30, prompt);
      assignment.finished(Outcome.COMPLETED);
    }
  }

  @Provide
  Arbitrary<String> policies() {
    return Arbitraries.of(Policies.names());
  }

  @Test
  void showsWhatTheScoreIsMadeOf() {
    World world = new World("warm").with(3);
    world.store("r1", 30, prompt(1000));
    world.assign(prompt(1000));
    world.fleet.drain("r2");
    Explanation explanation = world.dispatcher.explain(request(prompt(1000)));

    assertThat(explanation.policy()).isEqualTo("warm");
    assertThat(explanation.promptTokens()).isEqualTo(1000);
    assertThat(explanation.winner()).isEqualTo("r1");
    assertThat(explanation.reason()).isEqualTo("cache");
    assertThat(explanation.passedOver()).isEqualTo(Map.of("r2", DispatchResult.Cause.DRAINING));
    Explanation.Row winner = explanation.engines().get(1);
    assertThat(winner.matchedBlocks()).isEqualTo(30);
    assertThat(winner.matchedTokens()).isEqualTo(480);
    assertThat(winner.expectedTokens()).isEqualTo(992);
    assertThat(winner.creditTokens()).isEqualTo(992);
    assertThat(winner.prediction().cachedTokens()).isEqualTo(480);
    assertThat(winner.requestsInFlight()).isEqualTo(1);
    assertThat(winner.score().terms())
        .extracting(Score.Term::name)
        .containsExactly("queue_millis", "prefill_millis", "miss_millis", "decode_millis");
  }

  @Test
  void namesWhoIsSuspended() {
    World world = new World("least-requests").with(2);
    world.fleet.replicas().get(1).health(Replica.Health.DOWN);
    for (int i = 0; i < 3; i++) {
      world.assign(prompt(100)).finished(Outcome.FAILED);
    }
    world.fleet.replicas().get(1).health(Replica.Health.UP);
    Explanation explanation = world.dispatcher.explain(request(prompt(100)));
    assertThat(explanation.winner()).isEqualTo("r1");
    assertThat(explanation.passedOver()).isEqualTo(Map.of("r0", DispatchResult.Cause.SUSPENDED));
  }

  @Test
  void saysWhyNobodyCould() {
    World world = new World("warm").with(1);
    world.replica("r0").health(Replica.Health.DOWN);
    Explanation explanation = world.dispatcher.explain(request(prompt(100)));
    assertThat(explanation.winner()).isNull();
    assertThat(explanation.reason()).isEqualTo("down");
    assertThat(explanation.passedOver()).isEqualTo(Map.of("r0", DispatchResult.Cause.DOWN));
    assertThat(world.heard).isEmpty();
  }
}
