package dev.warmpath.router.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.prompt.InferenceRules;
import dev.warmpath.router.prompt.InferenceRules.Rewrite;
import dev.warmpath.router.prompt.InferenceRules.Rules;
import dev.warmpath.router.prompt.InferenceRules.Target;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class InferenceRulesTest {

  private final InferenceRules rules = new InferenceRules(new Random(1));

  private void set(Rewrite... rewrites) {
    rules.set("pool", new Rules(Map.of(), List.of(rewrites)));
  }

  private static Rewrite rewrite(String model, Target... targets) {
    return new Rewrite(model, List.of(targets));
  }

  private static Target target(String model, int weight) {
    return new Target(model, weight);
  }

  @Test
  void theFirstThatNamesTheModelCountsThenTheFirstForAll() {
    set(
        rewrite(null, target("any", 1)),
        rewrite("m", target("m-1", 1)),
        rewrite("m", target("m-2", 1)),
        rewrite(null, target("other", 1)));
    assertThat(rules.rewritten("m", null)).isEqualTo("m-1");
    assertThat(rules.rewritten("n", null)).isEqualTo("any");
    assertThat(rules.rewritten("any", null)).isNull();
  }

  @Test
  void weightsAreShares() {
    set(rewrite("m", target("m", 9), target("canary", 1), target("off", 0)));
    assertThat(canaries(i -> null)).isBetween(850, 1150);
    assertThat(canaries(i -> "session-" + i)).isBetween(850, 1150);
  }

  private int canaries(IntFunction<String> session) {
    return (int)
        IntStream.range(0, 10_000)
            .filter(i -> "canary".equals(rules.rewritten("m", session.apply(i))))
            .count();
  }

  @Test
  void aSessionStaysWithItsModelInEveryRouter() {
    Rewrite half = rewrite("m", target("a", 1), target("b", 1));
    set(half);
    InferenceRules other = new InferenceRules(new Random(2));
    other.set("pool", new Rules(Map.of(), List.of(half)));
    Map<String, String> chosen = new TreeMap<>();
    IntStream.range(0, 100)
        .mapToObj(i -> "session-" + i)
        .forEach(session -> chosen.put(session, rules.rewritten("m", session)));
    assertThat(chosen.values()).contains("a", "b");
    chosen.forEach((session, model) -> {
      assertThat(rules.rewritten("m", session)).isEqualTo(model);
      assertThat(other.rewritten("m", session)).isEqualTo(model);
    });
  }

  @Test
  void aSourceReplacesItsOwnRulesAndTheFirstByNameGoesBefore() {
    assertThat(rules.isInUse()).isFalse();
    rules.set("b", new Rules(Map.of("x", 1, "y", 2), List.of()));
    rules.set("a", new Rules(Map.of("x", 5), List.of()));
    assertThat(rules.priority("x")).isEqualTo(5);
    assertThat(rules.priority("y")).isEqualTo(2);
    rules.set("a", Rules.NONE);
    assertThat(rules.priority("x")).isEqualTo(1);
    assertThat(rules.isInUse()).isTrue();
  }

  @Test
  void withoutWeightNothingIsRewritten() {
    set(rewrite("m", target("a", 0)));
    assertThat(rules.rewritten("m", "s")).isNull();
  }
}
