package dev.warmpath.router.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class PoliciesTest {

  @Test
  void eachIsKnownByItsName() {
    assertThat(Policies.names())
        .containsExactly(
            "aibrix",
            "cache-aware",
            "conductor",
            "consistent-hash",
            "dynamo",
            "least-requests",
            "llm-d-affinity",
            "llm-d-weighted",
            "lmetric",
            "power-of-two",
            "preble",
            "random",
            "round-robin",
            "smg",
            "sticky",
            "warm")
        .allSatisfy(name -> assertThat(Policies.named(name, Map.of()).name()).isEqualTo(name));
  }

  @Test
  void thoseThatRememberSaySo() {
    assertThat(Policies.names())
        .allSatisfy(name -> {
          Policy policy = Policies.named(name, Map.of());
          boolean overrides =
              policy
                      .getClass()
                      .getMethod("committed", RoutingRequest.class, Candidates.class, int.class)
                      .getDeclaringClass()
                  != Policy.class;
          assertThat(policy.remembers()).as(name).isEqualTo(overrides);
        });
  }

  @Test
  void anUnknownNameIsAnsweredWithTheKnownOnes() {
    assertThatThrownBy(() -> Policies.named("wram", Map.of()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("unknown policy 'wram', must be one of " + String.join(", ", Policies.names()));
  }

  @Test
  void anUnknownOptionIsAnsweredWithTheKnownOnes() {
    assertThatThrownBy(() -> Policies.named("warm", Map.of("k", 2.0)))
        .hasMessage(
            "policy 'warm' has no option 'k',"
                + " it has decode-weight, eviction-weight, hold-above, memory-weight, miss-weight,"
                + " stream-weight");
    assertThatThrownBy(() -> Policies.named("random", Map.of("k", 2.0)))
        .hasMessage("policy 'random' has no option 'k', it has none");
  }

  @Test
  void optionsReachThePolicy() {
    assertThatThrownBy(() -> Policies.named("consistent-hash", Map.of("load-bound", 0.5)))
        .hasMessageContaining("loadBound=0.5");
    assertThatThrownBy(() -> Policies.named("warm", Map.of("miss-weight", -2.0)))
        .hasMessageContaining("missWeight=-2.0");
  }

  @Test
  void defaultsCanBeAsked() {
    assertThat(Policies.options("consistent-hash")).containsExactly(Map.entry("load-bound", 1.25));
    assertThat(Policies.options("warm")).containsEntry("miss-weight", 1.0);
  }

  @Test
  void documentationListsEveryOption() throws IOException {
    Set<String> options = new TreeSet<>();
    for (String name : Policies.names()) {
      Policies.options(name)
          .forEach(
              (option, value) -> options.add("`%s` | `%s` | `%s`".formatted(option, value, name)));
    }
    Set<String> documented = new TreeSet<>();
    for (String line : Files.readAllLines(Path.of("../docs/policies.md"))) {
      Matcher row = Pattern.compile("[|] (`[a-z-]+` [|] `[^|]+` [|]) ([^:]+): .*").matcher(line);
      if (row.matches()) {
        Stream.of(row.group(2).split(", "))
            .forEach(name -> documented.add(row.group(1) + " " + name));
      }
    }
    assertThat(documented).isEqualTo(options);
  }

  @Test
  void everyOptionIsBounded() {
    for (String name : Policies.names()) {
      for (String option : Policies.options(name).keySet()) {
        for (double value : new double[] {-1, Double.NaN, 2e6}) {
          assertThatThrownBy(() -> Policies.named(name, Map.of(option, value)))
              .as(name + " " + option)
              .isInstanceOf(IllegalArgumentException.class);
        }
      }
    }
    assertThatThrownBy(() -> Policies.named("cache-aware", Map.of("cache-threshold", 1.5)))
        .hasMessage("cache-threshold=1.5, must be from 0 to 1");
    assertThatThrownBy(
            () -> Policies.named("llm-d-affinity", Map.of("prefill-tokens-per-second", 0.0)))
        .hasMessage("prefill-tokens-per-second=0.0, must be from 1 to 1000000");
  }
}
