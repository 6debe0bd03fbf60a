package dev.warmpath.lab.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.lab.bench.TestCommand;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import org.junit.jupiter.api.Test;

final class BenchChooseCommandTest {

  private final TestCommand command = new TestCommand(BenchChooseCommand::new);

  @Test
  void measuresPoliciesUnderTheSameLoad() throws Exception {
    assertThat(
            command.run(
                "--json",
                "--policies",
                "round-robin,warm",
                "--engines",
                "8",
                "--requests",
                "1000",
                "--rounds",
                "2"))
        .isEqualTo(Exit.OK);
    JsonNode policies = command.json().path("policies");
    for (JsonNode policy : policies) {
      assertThat(policy.path("chooseMicros").path("median").asDouble()).isPositive();
      assertThat(policy.path("endMicros").path("median").asDouble()).isPositive();
    }
    assertThat(policies.path(0).path("ratio").asDouble()).isEqualTo(1);
    assertThat(policies.path(1).path("cachedShare").asDouble())
        .isGreaterThan(policies.path(0).path("cachedShare").asDouble() + .1);
  }

  @Test
  void namesWhatCannotBeMeasured() {
    assertThatThrownBy(() -> command.run("--policies", "coldest"))
        .isInstanceOf(CommandException.class)
        .hasMessageContaining("coldest");
    assertThatThrownBy(() -> command.run("--prompt-tokens", "9000", "--cache-tokens", "8000"))
        .isInstanceOf(CommandException.class)
        .hasMessageContaining("a cache holds a prompt or more");
  }
}
