package dev.warmpath.router.dispatch;

import static dev.warmpath.router.dispatch.World.prompt;
import static dev.warmpath.router.dispatch.World.request;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.Trust;
import dev.warmpath.eventingest.hashing.EventFormat;
import dev.warmpath.eventingest.hashing.SglangNamespaces;
import dev.warmpath.router.fleet.Outcome;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.routing.Policies;
import dev.warmpath.router.routing.Policy;
import dev.warmpath.router.routing.Score;
import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.body.FallbackCause;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.statistics.Statistics;
import org.junit.jupiter.api.Test;

/** An explanation says what the next request's assignment does, and changes nothing. */
class ExplanationTest {

  private static final int MOST_REQUESTS = 3;
  private static final int MAY_WAIT = 2;
  private static final SglangNamespaces DYNAMO = SglangNamespaces.of(EventFormat.DYNAMO, Map.of());

  @Property(tries = 100)
  void comesTrue(@ForAll("policies") String policy, @ForAll long seed) {
    World world = fleet(policy);
    Random random = new Random(seed);
    List<Assignment> open = new ArrayList<>();
    for (int i = 0; i < 80; i++) {
      PreparedRequest request = someRequest(random);
      int said = world.heard.size();
      Map<String, Double> counted = world.fallbacks();
      Explanation first = world.dispatcher.explain(request);
      assertThat(world.dispatcher.explain(request)).isEqualTo(first);
      assertThat(world.heard).as("an explanation changes nothing").hasSize(said);
      assertThat(world.fallbacks()).isEqualTo(counted);
      int waiting = world.dispatcher.queued();
      DispatchResult result = world.dispatcher.admit(request, later -> keep(later, open));
      keep(result, open);
      if (result instanceof Assignment assignment) {
        List<String> heard = world.heard.subList(said, world.heard.size());
        assertTrue(first, assignment, heard, grown(counted, world.fallbacks()));
      } else {
        assertThat(first.winner()).isNull();
        assertThat(result(result))
            .isEqualTo(first.reason().equals("full") ? full(waiting) : first.reason());
      }
      collect(first, result);
      live(world, open, random);
    }
    Statistics.label("met")
        .coverage(met -> {
          for (String kind : List.of("cache", "full", "queued", "ejected", "hidden", "draining")) {
            met.check(kind).count(count -> count > 0);
          }
        });
  }

  /** Five replicas that tell events, one of which shows name spaces; and one of two mute ranks. */
  private static World fleet(String policy) {
    World world = new World(policy, MOST_REQUESTS, MAY_WAIT).with(5);
    world.shows("r0", DYNAMO);
    world.trust("r1", Trust.SUSPECT);
    world.replica("r4").models(Set.of("m", "n"));
    Replica ranks = new Replica("ranks", URI.create("http://ranks"), Set.of("m"), 2);
    ranks.health(Replica.Health.UP);
    world.fleet.add(ranks);
    return world;
  }

  private static PreparedRequest someRequest(Random random) {
    PromptResult.Tokens tokens = somePrompt(random);
    boolean extra = random.nextInt(4) == 0;
    boolean known = random.nextInt(8) > 0;
    return new PreparedRequest(
        List.of("m", "m", "m", "n", "unknown").get(random.nextInt(5)),
        known ? Prompt.of(extra ? tokens.in("x") : tokens) : Prompt.of(null),
        random.nextBoolean() ? "session " + random.nextInt(4) : null,
        random.nextBoolean(),
        100,
        0,
        "client " + random.nextInt(2));
  }

  /** Of its announcement the listener hears the policy's word too. */
  private static void assertTrue(
      Explanation said, Assignment assignment, List<String> heard, List<String> fallbacks) {
    assertThat(assignment.engine()).isEqualTo(said.winner());
    assertThat(heard)
        .contains("assigned " + said.policy() + " " + said.reason() + " " + said.winner());
    boolean isCounted = said.fallback() != null && said.fallback() != FallbackCause.NO_PROMPT;
    assertThat(fallbacks).isEqualTo(isCounted ? List.of(said.fallback().label()) : List.of());
    assertThat(assignment.choice().prediction())
        .isEqualTo(
            said.engines().stream()
                .filter(row -> row.engine().equals(said.winner()))
                .findFirst()
                .orElseThrow()
                .prediction());
  }

  private static List<String> grown(Map<String, Double> before, Map<String, Double> now) {
    return now.keySet().stream()
        .filter(cause -> !now.get(cause).equals(before.get(cause)))
        .toList();
  }

  private static void keep(DispatchResult result, List<Assignment> open) {
    if (result instanceof Assignment assignment) {
      open.add(assignment);
    }
  }

  private static String result(DispatchResult result) {
    return result instanceof DispatchResult.NoCandidate none ? none.cause().label() : "queued";
  }

  private static String full(int waiting) {
    return waiting < MAY_WAIT ? "queued" : "queue_full";
  }

  private static void collect(Explanation said, DispatchResult result) {
    Statistics.label("met").collect(said.reason());
    if (result instanceof DispatchResult.Queued) {
      Statistics.label("met").collect("queued");
    }
    if (said.passedOver().containsValue(DispatchResult.Cause.EJECTED)) {
      Statistics.label("met").collect("ejected");
    }
    if (said.fallback() == FallbackCause.HIDDEN_NAMESPACE) {
      Statistics.label("met").collect("hidden");
    }
  }

  /** Time passes, the fleet changes, a request ends. */
  private static void live(World world, List<Assignment> open, Random random) {
    world.pass(random.nextInt(500));
    boolean allDown = random.nextInt(20) == 0;
    world
        .fleet
        .replicas()
        .forEach(replica -> replica.health(allDown ? Replica.Health.DOWN : Replica.Health.UP));
    boolean allDrained = random.nextInt(20) == 0;
    world.fleet.replicas().forEach(replica -> replica.draining(allDrained));
    world.trust("r2", Trust.values()[random.nextInt(Trust.values().length)]);
    world.store("r" + random.nextInt(5), 30, somePrompt(random));
    if (!open.isEmpty() && random.nextInt(3) > 0) {
      end(open.remove(random.nextInt(open.size())), random.nextInt(3) > 0);
    }
    world.dispatcher.freed(); // as the proxy does now and then: the fleet may have changed
  }

  private static void end(Assignment assignment, boolean well) {
    if (well) {
      assignment.answered();
      assignment.firstToken();
      assignment.usage(480, 0);
    }
    assignment.finished(well ? Outcome.COMPLETED : Outcome.FAILED);
  }

  private static PromptResult.Tokens somePrompt(Random random) {
    return prompt(160, 320, random.nextInt(3), random.nextInt(5));
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
    world.fleet.find("r2").orElseThrow().draining(true);
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
        .containsExactly("backlog_millis", "prefill_millis", "repeat_millis", "decode_millis");
  }

  @Test
  void asksOtherPoliciesWithoutDisturbingTheOneThatServes() {
    World world = new World("warm").with(3);
    world.store("r1", 30, prompt(1000));
    world.assign(prompt(160)).finished(Outcome.COMPLETED);
    Explanation plain = world.dispatcher.explain(request(prompt(1000)));
    List<Policy> others =
        Policies.names().stream().map(name -> Policies.named(name, Map.of())).toList();
    Explanation asked = world.dispatcher.explain(request(prompt(1000)), others);

    assertThat(asked.winner()).isEqualTo("r1");
    assertThat(asked.runnerUp()).isEqualTo(plain.runnerUp()).isIn("r0", "r2");
    assertThat(asked.engines()).isEqualTo(plain.engines());
    assertThat(asked.blocks()).isNotNull();
    assertThat(asked.others()).extracting(Explanation.Other::policy).isEqualTo(Policies.names());
    assertThat(asked.others())
        .filteredOn(other -> other.policy().equals("warm"))
        .containsExactly(new Explanation.Other("warm", "r1", "cache", true));
    assertThat(world.dispatcher.explain(request(prompt(1000))).engines())
        .isEqualTo(plain.engines());
  }

  @Test
  void namesWhoIsEjected() {
    World world = new World("least-requests").with(2);
    world.fleet.replicas().get(1).health(Replica.Health.DOWN);
    for (int i = 0; i < 3; i++) {
      world.assign(prompt(100)).finished(Outcome.FAILED);
    }
    world.fleet.replicas().get(1).health(Replica.Health.UP);
    Explanation explanation = world.dispatcher.explain(request(prompt(100)));
    assertThat(explanation.winner()).isEqualTo("r1");
    assertThat(explanation.passedOver()).isEqualTo(Map.of("r0", DispatchResult.Cause.EJECTED));
  }

  @Test
  void saysWhyNobodyCould() {
    World world = new World("warm");
    world.fleet.add(new Replica("r0", URI.create("http://r0"), Set.of("m"), 1));
    Explanation explanation = world.dispatcher.explain(request(prompt(100)));
    assertThat(explanation.winner()).isNull();
    assertThat(explanation.reason()).isEqualTo("down");
    assertThat(explanation.passedOver()).isEqualTo(Map.of("r0", DispatchResult.Cause.DOWN));
    assertThat(world.heard).isEmpty();
  }
}
