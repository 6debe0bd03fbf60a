package dev.warmpath.router.routing.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;

class PoliciesTest {

  @Test
  void eachIsKnownByItsName() {
    assertThat(Policies.names())
        .containsExactly("consistent-hash", "least-requests", "random", "round-robin", "warm")
        .allSatisfy(name -> assertThat(Policies.named(name, Map.of()).name()).isEqualTo(name));
  }

  @Test
  void anUnknownNameIsAnsweredWithTheKnownOnes() {
    assertThatThrownBy(() -> Policies.named("wram", Map.of()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "unknown policy 'wram', must be one of"
                + " consistent-hash, least-requests, random, round-robin, warm");
  }

  @Test
  void anUnknownOptionIsAnsweredWithTheKnownOnes() {
    assertThatThrownBy(() -> Policies.named("warm", Map.of("k", 2.0)))
        .hasMessage(
            "policy 'warm' has no option 'k',"
                + " it has context-millis, decode-weight, miss-weight, step-millis");
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
    assertThat(Policies.options("warm")).containsEntry("miss-weight", 2.0);
  }
}
